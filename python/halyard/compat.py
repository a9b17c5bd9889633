# SPDX-License-Identifier: Apache-2.0
"""Makes programs with ``import edgefirst_hal`` run on Halyard, on request::

    import halyard.compat
    halyard.compat.install()
    import edgefirst_hal as ef   # halyard.edgefirst

Importing this module changes nothing. ``python -m halyard.compat program.py args...`` runs a
program in this way, without a change to it.
"""
import os
import sys
from types import ModuleType
from typing import Tuple

from halyard import edgefirst

__all__ = ["install", "is_installed", "uninstall"]

NAMES: Tuple[str, ...] = ("edgefirst_hal", "edgefirst_hal.edgefirst_hal")


def is_installed() -> bool:
    """True when ``import edgefirst_hal`` gives halyard.edgefirst in this process."""
    return all(sys.modules.get(name) is edgefirst for name in NAMES)


def install() -> ModuleType:
    """Makes ``import edgefirst_hal`` (and of its nested module of the same name) give
    halyard.edgefirst in this process, even if the real package is installed. May be called
    again. Returns the module.

    Raises:
        RuntimeError: the real edgefirst_hal is imported already; call install() before that.
    """
    for name in NAMES:
        loaded = sys.modules.get(name)
        if loaded is not None and loaded is not edgefirst:
            raise RuntimeError(f"{name} is imported already, from "
                               f"{getattr(loaded, '__file__', 'an unknown place')}: call "
                               "halyard.compat.install() before anything imports it")
    for name in NAMES:
        sys.modules[name] = edgefirst
    # `import edgefirst_hal.edgefirst_hal` takes the nested module from here.
    setattr(edgefirst, "edgefirst_hal", edgefirst)
    return edgefirst


def uninstall() -> None:
    """Undoes install(): later imports find the real package, or none."""
    for name in NAMES:
        if sys.modules.get(name) is edgefirst:
            del sys.modules[name]
    if hasattr(edgefirst, "edgefirst_hal"):
        delattr(edgefirst, "edgefirst_hal")


def _main() -> None:
    import runpy
    import zipfile

    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m halyard.compat PROGRAM.py [ARGUMENT...]")
    install()
    sys.argv = sys.argv[1:]
    program = sys.argv[0]
    if not (getattr(sys.flags, "safe_path", False) or sys.flags.isolated):
        # `-m` puts the current folder there; `python PROGRAM.py` puts the program's folder, with
        # links followed. For folders and archives run_path() adds the entry itself.
        if os.path.isdir(program) or zipfile.is_zipfile(program):
            del sys.path[0]
        else:
            sys.path[0] = os.path.dirname(os.path.realpath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    _main()
