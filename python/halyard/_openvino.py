# SPDX-License-Identifier: Apache-2.0
"""Loads OpenVINO's libraries from the package openvino. The engine's shared object, which is
beside the library and links them, then finds them loaded."""
from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
from typing import List, Optional

INSTALL = "pip install halyard-vision[openvino]"
_loaded: List[ctypes.CDLL] = []


def folder() -> Optional[str]:
    """The package's folder of libraries; None if it is not installed."""
    try:
        spec = importlib.util.find_spec("openvino")
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        libs = pathlib.Path(place, "libs")
        if any(libs.glob("libopenvino.so*")):
            return str(libs)
    return None


def prepare() -> None:
    """Loads the package's library, once. HALYARD_OPENVINO_DIR takes precedence."""
    if _loaded or os.environ.get("HALYARD_OPENVINO_DIR"):
        return
    libs = folder()
    if libs is None:
        return
    for path in sorted(pathlib.Path(libs).glob("libopenvino.so*")):
        try:
            _loaded.append(ctypes.CDLL(str(path)))  # RTLD_LOCAL: keeps its names private
            return
        except OSError:
            continue


def explain(what: str, is_unsupported: bool) -> str:
    """The text for an engine that cannot be used; empty: use the library's text."""
    if not is_unsupported or not what.startswith(("OpenVINO", "this build")):
        return ""
    if folder() is None:
        return f"{what}: install it with `{INSTALL}`, or hand in an engine of your own (engine=)"
    return ""
