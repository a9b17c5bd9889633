# SPDX-License-Identifier: Apache-2.0
"""Runs the halyard program on NumPy arrays, to hold its results against other libraries."""
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest


class Program:
    def __init__(self, folder: pathlib.Path):
        self.path = os.environ.get("HALYARD_PROGRAM", "halyard")
        self.folder = folder

    def run(self, *args) -> str:
        done = subprocess.run([self.path, *map(str, args)], capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, f"{args}: exit {done.returncode}\n{done.stderr}"
        return done.stdout

    def convert(self, image: np.ndarray, source_format: str, size, *options,
                target_format="rgb", colorimetry=None) -> np.ndarray:
        """image: uint8 rows as stored; size: (width, height) of the source."""
        source, target = self.folder / "in.npy", self.folder / "out.npy"
        np.save(source, image)
        colour = ["--input-colorimetry", colorimetry] if colorimetry else []
        self.run("convert", source, target, "--input-format", source_format,
                 "--input-size", f"{size[0]}x{size[1]}", "--format", target_format,
                 *colour, *options)
        return np.load(target)

    def decode(self, *args) -> list:
        """Detections of the one frame that `halyard decode --json -` reports."""
        return json.loads(self.run("decode", *args, "--json", "-"))["frames"][0]["detections"]


@pytest.fixture
def program(tmp_path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def testdata() -> pathlib.Path:
    folder = os.environ.get("HALYARD_TESTDATA_DIR")
    if not folder:
        pytest.skip("HALYARD_TESTDATA_DIR is not set: recorded outputs of real networks")
    return pathlib.Path(folder)
