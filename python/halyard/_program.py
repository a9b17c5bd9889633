# SPDX-License-Identifier: Apache-2.0
"""The command `halyard` of a package that was built with the program."""
import os
import pathlib
import sys

from . import _openvino

BUILD = "pip install -C cmake.define.HALYARD_TOOLS=ON ."


def main() -> None:
    """Replaces this process by the program, which finds the engines in their Python packages."""
    program = pathlib.Path(__file__).with_name("bin") / "halyard"
    if not program.exists():
        sys.exit(f"halyard: this package has no program; build it with `{BUILD}` in a checkout")
    for _, variable, libs, _ in _openvino.installed():
        os.environ[variable] = libs
    os.execv(program, [sys.argv[0], *sys.argv[1:]])
