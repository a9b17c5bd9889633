# SPDX-License-Identifier: Apache-2.0
"""What type checkers know of the package: written from it, and clean on the examples."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import halyard as ef

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = pathlib.Path(ef.__file__).parent


def needs(module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed")


def run(*arguments, **environment):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=280)


def test_the_stubs_are_those_of_this_build():
    needs("nanobind")
    done = run("-B", ROOT / "tools/python_stub.py", "--check", PYTHONPATH=str(PACKAGE.parent))
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_typed():
    text = (ROOT / "python/halyard/__init__.pyi").read_text()
    for name in ef.__all__:
        assert f" {name} as {name}\n" in text or name == "__version__", name
    assert (ROOT / "python/halyard/py.typed").exists()


def test_examples_are_clean_under_mypy_strict(tmp_path):
    needs("mypy")
    config = tmp_path / "mypy.ini"
    config.write_text("[mypy]\nstrict = True\nfollow_imports = silent\n"
                      "[mypy-torch.*,cv2.*,openvino.*]\nignore_missing_imports = True\n"
                      "follow_imports = skip\n")
    examples = [*(ROOT / "examples/python").glob("*.py"), ROOT / "examples/find_objects.py"]
    done = run("-m", "mypy", "--config-file", config, "--cache-dir", tmp_path, *examples,
               MYPYPATH=str(ROOT / "python"))
    assert done.returncode == 0, done.stdout + done.stderr


def test_examples_are_clean_under_pyright(tmp_path):
    needs("pyright")
    examples = [ROOT / "examples/python", ROOT / "examples/find_objects.py"]
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({
        "include": [os.path.relpath(path, tmp_path) for path in examples],
        "extraPaths": [os.path.relpath(ROOT / "python", tmp_path)],
        "reportMissingImports": "none", "reportMissingModuleSource": "none"}))
    done = run("-m", "pyright", "-p", tmp_path, "--pythonpath", sys.executable, "--outputjson")
    report = json.loads(done.stdout)
    assert done.returncode == 0 and not report["generalDiagnostics"], done.stdout
    assert report["summary"]["filesAnalyzed"] == 1 + len(list(examples[0].glob("*.py")))
