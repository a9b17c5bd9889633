#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds wheels of the Python package as users get them, and runs the package's tests with each. A
wheel is built, made self-contained by auditwheel, installed with only NumPy and pytest into a new
environment, and tested from a folder outside the tree. Prints size, platform tag and seconds.

    tools/wheel.py [--out DIR] [--from-sdist] [--all | PYTHON...]

PYTHON are interpreters, by default the one that runs this script. --all uses every CPython 3.9 to
3.13 on PATH and in $PYTHONS (paths separated by spaces). From 3.12 one wheel serves all versions.
Runs in the environment of scripts/install-deps.sh python; a PYTHON needs only pip."""
import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build-wheel"
OLDEST, STABLE, NEWEST = (3, 9), (3, 12), (3, 13)


def run(*command, **more):
    subprocess.run([str(word) for word in command], check=True, **more)


def ask(python, code):
    """The output of `code` under `python`; None if that is not an interpreter or the code fails."""
    try:
        done = subprocess.run([str(python), "-c", code], capture_output=True, text=True,
                              check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def version(python):
    said = ask(python, "import sys; print(sys.implementation.name, *sys.version_info[:2])")
    words = (said or "").split()
    return (int(words[1]), int(words[2])) if words[:1] == ["cpython"] else None


def every_python():
    """One interpreter for each version, $PYTHONS before PATH."""
    found = {}
    places = os.environ.get("PYTHONS", "").split()
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        places += [Path(folder, f"python3.{minor}")
                   for folder in os.environ.get("PATH", "").split(os.pathsep)]
    for python in places:
        if (number := version(python)) and OLDEST <= number <= NEWEST:
            found.setdefault(number, python)
    return [found[number] for number in sorted(found)]


def requirements():
    """The build requirements of pyproject.toml, and the program that asks the backend."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        return [*tomllib.load(file)["build-system"]["requires"], "build"]


def environment(folder, python, packages):
    """The interpreter of a virtual environment, which is made and filled if it does not exist."""
    inside = folder / "bin/python"
    if not inside.exists():
        run(python, "-m", "venv", folder)
        run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return inside


def unpacked_sdist():
    """Builds the source distribution and unpacks it into a new folder."""
    folder = WORK / "sdist"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", folder, ROOT,
        stdout=subprocess.DEVNULL)
    archive, = folder.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        files.extractall(folder)
    return folder / archive.name[:-len(".tar.gz")], archive


def build(python, source, folder):
    """Builds a wheel for this machine only. Without isolation, so that the compiler cache sees the
    same paths at each run."""
    shutil.rmtree(folder, ignore_errors=True)
    builder = python
    if not ask(python, "import build, nanobind, scikit_build_core; print(1)"):
        name = "env-%d.%d" % version(python)
        builder = environment(WORK / name, python, requirements())
    # The cache identifies a compiler by the name of the command.
    env = {"CC": "cc", "CXX": "c++", **os.environ}
    log = WORK / "build.log"
    with open(log, "w", encoding="utf-8") as out:
        done = subprocess.run([str(builder), "-m", "build", "--wheel", "--no-isolation",
                               "--outdir", str(folder), str(source)],
                              env=env, stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit(f"{log.read_text(encoding='utf-8')[-6000:]}\nwheel: the build failed, see {log}")
    return next(folder.glob("*.whl"))


def licences(wheel):
    """Licence texts of the libraries that auditwheel put into the wheel, by Debian package."""
    texts = {}
    with zipfile.ZipFile(wheel) as files:
        for name in files.namelist():
            if name.endswith(".cdx.json"):
                for part in json.loads(files.read(name)).get("components", []):
                    match = re.match(r"pkg:deb/debian/([^@?]+)", part.get("purl", ""))
                    path = Path("/usr/share/doc", match.group(1), "copyright") if match else None
                    if path and path.exists():
                        texts[match.group(1)] = path.read_bytes()
    return texts


def check_contents(wheel):
    """Checks that a wheel contains no engine and no video library, which the user installs."""
    with zipfile.ZipFile(wheel) as files:
        names = [Path(name).name for name in files.namelist()]
    brought = [name for name in names if re.match(r"lib(openvino|tbbbind|av\w+|sw\w+)[-.]", name)]
    if brought:
        sys.exit(f"wheel: {wheel.name} holds {', '.join(brought)}")
    return "libhalyard_openvino.so" in names


def add_files(wheel, added):
    """Adds files {name below the wheel's .dist-info: bytes} to a wheel and to its record."""
    with zipfile.ZipFile(wheel) as files:
        record = next(n for n in files.namelist() if n.endswith(".dist-info/RECORD"))
        members = {item: files.read(item) for item in files.infolist()}
    info = record.rsplit("/", 1)[0]
    lines = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as files:
        for name, data in sorted(added.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines += f"{info}/{name},sha256={digest},{len(data)}\n"
            files.writestr(f"{info}/{name}", data)
        for item, data in members.items():
            files.writestr(item, data + lines.encode() if item.filename == record else data,
                           zipfile.ZIP_DEFLATED)


def repair(wheel, out):
    """Puts the libraries that Linux systems need not have into the wheel, with their licences."""
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--plat", "auto",
                               "--strip", "--exclude", "libopenvino*", "--wheel-dir", folder,
                               str(wheel)], env={**os.environ, "PATH": path}, text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr}\nwheel: auditwheel could not repair {wheel}")
        repaired, = Path(folder).glob("*.whl")
        texts = licences(repaired)
        add_files(repaired, {f"licenses/{name}.txt": text for name, text in texts.items()})
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy2(repaired, out)), len(texts)


def test(python, wheel, source):
    """Runs the tests of `source`, except those of the tree's own files, from a copy of them and of
    the files that they read, in an environment with only NumPy and pytest."""
    with tempfile.TemporaryDirectory() as folder:
        inside = environment(Path(folder, "env"), python, [str(wheel.resolve()), "pytest"])
        for part in ("tests/python", "tests/tools", "examples"):
            shutil.copytree(source / part, Path(folder, "tree", part),
                            ignore=shutil.ignore_patterns("__pycache__", "test_examples.py",
                                                          "test_types.py"))
        env = {name: value for name, value in os.environ.items()
               if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "LD_PRELOAD")}
        where = subprocess.run([str(inside), "-c", "import halyard; print(halyard.__file__)"],
                               cwd=folder, env=env, capture_output=True, text=True, check=True)
        if not where.stdout.startswith(folder):
            sys.exit(f"wheel: the tests would run {where.stdout}")
        done = subprocess.run([str(inside), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs",
                               "tree/tests/python"], cwd=folder, env=env, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}{done.stderr}\nwheel: tests failed under {python}")
        return done.stdout.strip().splitlines()[-1].strip("= ")


def main():
    parser = argparse.ArgumentParser(description="Builds, repairs and tests wheels.")
    parser.add_argument("--out", default=ROOT / "dist", type=Path, metavar="DIR")
    parser.add_argument("--from-sdist", action="store_true", help="build from an unpacked sdist")
    parser.add_argument("--all", action="store_true", help="every version that is found")
    parser.add_argument("pythons", nargs="*", metavar="PYTHON")
    arguments = parser.parse_args()
    pythons = every_python() if arguments.all else arguments.pythons or [sys.executable]
    WORK.mkdir(exist_ok=True)
    source = ROOT
    if arguments.from_sdist:
        source, archive = unpacked_sdist()
        arguments.out.mkdir(parents=True, exist_ok=True)
        shutil.copy2(archive, arguments.out)
        print(f"wheel: {archive.name}, {archive.stat().st_size / 1e6:.2f} MB", flush=True)
    stable = None
    for python in pythons:
        number = version(python)
        if number is None:
            sys.exit(f"wheel: {python} is not a working CPython")
        begin = time.monotonic()
        if stable is None or number < STABLE:
            raw = build(python, source, WORK / "raw")
            wheel, count = repair(raw, arguments.out)
            engine = "can load OpenVINO" if check_contents(wheel) else "runs no networks"
            print(f"wheel: {wheel.name}, {wheel.stat().st_size / 1e6:.2f} MB, {engine}, licences "
                  f"of {count} packages, built in {time.monotonic() - begin:.0f} s", flush=True)
            stable = wheel if number >= STABLE else None
        begin = time.monotonic()
        said = test(python, stable or wheel, source)
        print(f"wheel: Python {number[0]}.{number[1]}: {said} "
              f"({time.monotonic() - begin:.0f} s with installing)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
