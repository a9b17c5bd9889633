# SPDX-License-Identifier: Apache-2.0
"""Loads engines' libraries from their Python packages, openvino and onnxruntime. The library, which
looks for them by name, then finds them loaded."""
from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
from typing import Iterator, List, Optional, Tuple

INSTALL = "pip install halyard-vision[openvino]"
# Package, folder in it, its library's files, and the variable that takes precedence.
PACKAGES = (("openvino", "libs", "libopenvino.so*", "HALYARD_OPENVINO_DIR"),
            ("onnxruntime", "capi", "libonnxruntime.so*", "HALYARD_ONNXRUNTIME_DIR"))
_loaded: List[ctypes.CDLL] = []
_seen: List[str] = []


def folder(package: str = "openvino", inner: str = "libs",
           files: str = "libopenvino.so*") -> Optional[str]:
    """The package's folder of libraries; None if it is not installed."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        libs = pathlib.Path(place, inner)
        if any(libs.glob(files)):
            return str(libs)
    return None


def installed(engine: str = "") -> Iterator[Tuple[str, str, str, str]]:
    """Package, variable, folder and files of an engine, or of each (""), if it is installed and not
    loaded, unless the variable names another folder."""
    for package, inner, files, variable in PACKAGES:
        if engine in ("", package) and package not in _seen and not os.environ.get(variable):
            libs = folder(package, inner, files)
            if libs is not None:
                yield package, variable, libs, files


def prepare(engine: str = "openvino") -> bool:
    """Loads the library of a package, once, or of all packages (""). Whether it has loaded one."""
    before = len(_loaded)
    for package, _, libs, files in installed(engine):
        for path in sorted(pathlib.Path(libs).glob(files)):
            try:
                _loaded.append(ctypes.CDLL(str(path)))  # RTLD_LOCAL: keeps its names private
                _seen.append(package)
                break
            except OSError:
                continue
    return len(_loaded) > before


def explain(what: str, is_unsupported: bool) -> str:
    """The text for an engine that cannot be used; empty: use the library's text."""
    if not is_unsupported or not what.startswith(("OpenVINO", "this build")):
        return ""
    if folder() is None:
        return f"{what}: install it with `{INSTALL}`, or hand in an engine of your own (engine=)"
    return ""
