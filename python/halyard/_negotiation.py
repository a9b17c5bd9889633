# SPDX-License-Identifier: Apache-2.0
"""Values of attribute lists as JSON, for the extension."""
import enum
import json
import operator
from typing import Any


def _plain(value: Any) -> Any:
    # Called for values that json cannot write: enumerations, NumPy's integers, other iterables.
    if isinstance(value, enum.Enum):
        return value.name
    try:
        return operator.index(value)
    except TypeError:
        pass
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"value: must be what JSON can hold, not {type(value).__name__}")


def json_of(value: Any) -> str:
    """`value` as JSON."""
    return json.dumps(_plain(value) if isinstance(value, enum.Enum) else value, default=_plain,
                      allow_nan=False)
