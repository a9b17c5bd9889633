# SPDX-License-Identifier: Apache-2.0
"""Makes programs that say ``import edgefirst_hal`` run on Halyard, when they are asked to::

    import halyard.compat
    halyard.compat.install()
    import edgefirst_hal as ef   # halyard.edgefirst

Nothing is done by importing this module. ``python -m halyard.compat program.py args...`` runs a
program that way without a change to it.
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
    """Makes ``import edgefirst_hal``, and that of its nested module of the same name, give Halyard
    in this process, as halyard.edgefirst, also where the real package is installed. May be called
    again. Returns the module.

    Raises:
        RuntimeError: the real edgefirst_hal is imported already; call this before.
    """
    for name in NAMES:
        loaded = sys.modules.get(name)
        if loaded is not None and loaded is not edgefirst:
            raise RuntimeError(f"{name} is imported already, from "
                               f"{getattr(loaded, '__file__', 'an unknown place')}: call "
                               "halyard.compat.install() before anything imports it")
    for name in NAMES:
        sys.modules[name] = edgefirst
    # The form `import edgefirst_hal.edgefirst_hal` takes the nested module from here.
    setattr(edgefirst, "edgefirst_hal", edgefirst)
    return edgefirst


def uninstall() -> None:
    """Undoes install(): imports from now on find the real package, or none."""
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
        # `-m` has put the folder one stands in there; `python PROGRAM.py` puts the program's, links
        # followed. For folders and archives run_path() adds the entry itself.
        if os.path.isdir(program) or zipfile.is_zipfile(program):
            del sys.path[0]
        else:
            sys.path[0] = os.path.dirname(os.path.realpath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    _main()
