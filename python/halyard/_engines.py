# SPDX-License-Identifier: Apache-2.0
"""Opens the engine of a Model by its name."""
from __future__ import annotations

import ctypes
import importlib.util
import os
import pathlib
from typing import Any, Dict, List, Optional

from . import _openvino
from ._core import Engine, available_engines
from ._errors import UnsupportedError
from ._words import nearest

# Names of engines -> the extra of the package that brings them.
EXTRAS = {"openvino": "openvino", "onnxruntime": "onnxruntime"}
_loaded: List[ctypes.CDLL] = []


def _takes_names() -> bool:
    signatures: Any = getattr(Engine.__init__, "__nb_signature__", ())
    return any("engine:" in each[0] for each in signatures)


def prepare_onnxruntime() -> None:
    """Loads the library of the package onnxruntime, once: the engine then finds it by its name.
    HALYARD_ONNXRUNTIME_DIR takes precedence."""
    if _loaded or os.environ.get("HALYARD_ONNXRUNTIME_DIR"):
        return
    try:
        spec = importlib.util.find_spec("onnxruntime")
    except (ImportError, ValueError):
        return
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(pathlib.Path(place, "capi").glob("libonnxruntime.so*")):
            try:
                _loaded.append(ctypes.CDLL(str(path)))  # RTLD_LOCAL: keeps its names private
                return
            except OSError:
                continue


def engine_of(path: Any, name: Optional[str], device: str, threads: int) -> Engine:
    """The Engine. Raises UnsupportedError for a name that this build does not have."""
    if name == "onnxruntime" or (name is None and _openvino.folder() is None):
        prepare_onnxruntime()
    if name is None:
        return Engine(path, device, threads)
    if not _takes_names():
        if name == "openvino":
            return Engine(path, device, threads)
        near = nearest(name, list(EXTRAS))
        hint = f'; did you mean "{near}"?' if near and near != name else ""
        raise UnsupportedError(f'engine: this build has no "{name}"{hint} (it has: '
                               f"{'; '.join(available_engines())})", "unsupported")
    named: Dict[str, Any] = {"engine": name}
    return Engine(path, device, threads, **named)
