# SPDX-License-Identifier: Apache-2.0
"""The command `halyard` of the package."""
import pathlib
import subprocess
import sys

import halyard
import pytest
from halyard import _program

COMMAND = [sys.executable, "-c", "from halyard._program import main; main()"]
has_program = pathlib.Path(halyard.__file__).with_name("bin").joinpath("halyard").exists()


@pytest.mark.skipif(not has_program, reason="the package was built without the program")
def test_the_command_is_the_program():
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"halyard {halyard.__version__}")
    done = subprocess.run([*COMMAND, "info", "no such file"], capture_output=True, text=True,
                          check=False)
    assert done.returncode != 0
    assert "no such file" in done.stderr


def test_without_the_program_it_says_how_to_build_it(monkeypatch, tmp_path):
    monkeypatch.setattr(_program, "__file__", str(tmp_path / "_program.py"))
    with pytest.raises(SystemExit, match="no program.*HALYARD_TOOLS=ON"):
        _program.main()
