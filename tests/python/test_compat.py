# SPDX-License-Identifier: Apache-2.0
"""halyard.compat: programs that import edgefirst_hal, when asked and never by default."""
import sys
import types
import zipfile

import pytest

import halyard as ef
import halyard.compat
from helpers import fails, run_python


@pytest.fixture
def clean(monkeypatch):
    for name in halyard.compat.NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    halyard.compat.uninstall()


def test_the_name_resolves_to_this_package(clean):
    module = halyard.compat.install()
    assert module is ef.edgefirst and halyard.compat.is_installed()
    halyard.compat.install()
    import edgefirst_hal
    import edgefirst_hal.edgefirst_hal as nested
    from edgefirst_hal import Tensor
    assert edgefirst_hal is module and nested is module and Tensor is ef.edgefirst.Tensor
    halyard.compat.uninstall()
    assert not halyard.compat.is_installed() and "edgefirst_hal" not in sys.modules


def test_the_real_one_is_not_replaced(clean, monkeypatch):
    real = types.ModuleType("edgefirst_hal")
    real.__file__ = "/somewhere/edgefirst_hal/__init__.py"
    monkeypatch.setitem(sys.modules, "edgefirst_hal", real)
    fails(RuntimeError, "/somewhere/edgefirst_hal", lambda: halyard.compat.install())
    assert sys.modules["edgefirst_hal"] is real and not halyard.compat.is_installed()
    halyard.compat.uninstall()
    assert sys.modules["edgefirst_hal"] is real


def test_nothing_happens_unless_it_is_asked_for():
    done = run_python(
        "-c", "import sys, halyard, halyard.compat; print('edgefirst_hal' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


def test_it_needs_no_import_of_its_own():
    done = run_python("-c", "import halyard; halyard.compat.install(); import edgefirst_hal as ef; "
               "print(ef is halyard.edgefirst); halyard.nothing")
    assert done.stdout.strip() == "True" and "no attribute 'nothing'" in done.stderr
    done = run_python("-W", "error", "-m", "halyard.compat", "--help")
    assert "RuntimeWarning" not in done.stderr


def test_a_program_runs_without_a_change(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys\nimport edgefirst_hal as hal\n"
                       "print(hal.__version__, hal.Tensor([2, 3]).shape, sys.argv[1])\n")
    done = run_python("-m", "halyard.compat", program, "word")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [ef.__version__, "[2,", "3]", "word"]
    assert run_python("-m", "halyard.compat").returncode != 0


def test_a_program_finds_its_neighbours_and_not_those_of_the_folder_one_stands_in(tmp_path):
    """sys.path is that of `python program.py`, links followed, folders and archives too."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "neighbour.py").write_text(f"print({folder.name!r})\n")
    text = "import sys\nimport neighbour\nprint([p for p in sys.path if 'site-pack' not in p])\n"
    (there / "program.py").write_text(text)
    (here / "link.py").symlink_to(there / "program.py")
    (there / "whole").mkdir()
    (there / "whole" / "__main__.py").write_text("import sys\nprint(sys.path[0])\n"
                                                 "import neighbour\n")
    (there / "whole" / "neighbour.py").write_text("print('inside')\n")
    with zipfile.ZipFile(there / "packed.zip", "w") as archive:
        for name in ("__main__.py", "neighbour.py"):
            archive.write(there / "whole" / name, name)
    for program in (there / "program.py", "../there/program.py", "link.py", there / "whole",
                    there / "packed.zip"):
        plain = run_python(program, cwd=here)
        assert plain.returncode == 0, plain.stderr
        assert "here" not in plain.stdout.splitlines()
        assert run_python("-m", "halyard.compat", program, cwd=here).stdout == plain.stdout
