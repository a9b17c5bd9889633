# SPDX-License-Identifier: Apache-2.0
"""Configurations of decoders as JSON text."""
import json
from collections.abc import Mapping
from typing import Any

from ._core import ModelDescription


def _plain(value: Any) -> Any:
    """Converts what json cannot write: NumPy's numbers and arrays, mappings that are not a dict."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"config: {type(value).__name__} cannot be written as JSON")


def dumps(config: Any) -> str:
    """The configuration as JSON. Raises TypeError for values that JSON cannot hold."""
    if not isinstance(config, Mapping):
        raise TypeError(f"config: must be a dict, not {type(config).__name__}")
    return json.dumps(dict(config), default=_plain)


def description(text: str) -> ModelDescription:
    """Parses what to_json() gave. For pickle, which finds functions by their names."""
    return ModelDescription.from_json(text)
