#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An installed program finds OpenVINO where HALYARD_OPENVINO_DIR says, and works without it.

    engine.py BUILD_FOLDER WORK_FOLDER HARBOUR OPENVINO_LIBS

HARBOUR is examples/harbour, OPENVINO_LIBS the folder of the libraries that the build used."""
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path


def main():
    build, work, harbour, libraries = (Path(word).resolve() for word in sys.argv[1:])
    shutil.rmtree(work, ignore_errors=True)
    subprocess.run(["cmake", "--install", build, "--prefix", work], check=True,
                   stdout=subprocess.DEVNULL)
    clean = {key: value for key, value in os.environ.items()
             if key not in ("LD_LIBRARY_PATH", "HALYARD_OPENVINO_DIR")}

    def run(*words, **environment):
        return subprocess.run([work / "bin" / "halyard", *words], env={**clean, **environment},
                              capture_output=True, text=True, check=False)

    def detect(**environment):
        return run("run", harbour / "clip", "--model", harbour / "harbour.onnx", "--json",
                   work / "found.json", **environment)

    # A system may have OpenVINO of this version where its loader looks.
    alone = detect()
    if alone.returncode != 0:
        assert "set HALYARD_OPENVINO_DIR to the folder" in alone.stderr, alone.stderr
        assert not (work / "found.json").exists()
        doctor = run("doctor")
        assert "OpenVINO cannot be loaded" in doctor.stdout + doctor.stderr, doctor.stdout
    for folder in (libraries, libraries.parent):
        found = detect(HALYARD_OPENVINO_DIR=str(folder))
        assert found.returncode == 0, f"{folder}: {found.stderr}"
        frames = json.loads((work / "found.json").read_text(encoding="utf-8"))
        assert frames, "frames were read"
        (work / "found.json").unlink()
    for folder, words in (("/nowhere", "is not in '/nowhere'"),
                          ("libs", "must be an absolute path")):
        refused = detect(HALYARD_OPENVINO_DIR=folder)
        assert refused.returncode == 1 and words in refused.stderr, refused.stderr
    image = next((harbour / "clip").iterdir())
    assert run("info", image).returncode == 0, "what needs no engine works without it"


if __name__ == "__main__":
    main()
