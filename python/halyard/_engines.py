# SPDX-License-Identifier: Apache-2.0
"""Opens the engine of a Model by its name."""
from __future__ import annotations

from typing import Any, Dict, Optional

from ._core import Engine, available_engines
from ._errors import UnsupportedError
from ._words import nearest

# Names of engines -> the extra of the package that brings them.
EXTRAS = {"openvino": "openvino", "onnxruntime": "onnxruntime"}


def _takes_names() -> bool:
    signatures: Any = getattr(Engine.__init__, "__nb_signature__", ())
    return any("engine:" in each[0] for each in signatures)


def engine_of(path: Any, name: Optional[str], device: str, threads: int) -> Engine:
    """The Engine. Raises UnsupportedError for a name that this build does not have."""
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
