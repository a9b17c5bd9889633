# SPDX-License-Identifier: Apache-2.0
"""Messages for words that a call does not know."""
from difflib import get_close_matches
from typing import Iterable, Optional

# Short names of element types, as in Rust and in this library's C++.
_SHORT = {"f16": "float16", "f32": "float32", "f64": "float64", "bf16": "bfloat16",
          "u16": "uint16", "u32": "uint32", "u64": "uint64", "i16": "int16", "i32": "int32",
          "i64": "int64", "half": "float16", "boolean": "bool"}


def _plain(word: str) -> str:
    return word.strip().lower().replace("_", "").replace("-", "").replace(" ", "")


def nearest(word: str, words: Iterable[str]) -> Optional[str]:
    """The one of ``words`` that is most like ``word``; None: none is like it."""
    if len(word) > 64:  # not a typing error, and long texts take long to compare
        return None
    by_plain = {_plain(known): known for known in words}
    short = _SHORT.get(_plain(word), "")
    if short in by_plain:
        return by_plain[short]
    found = get_close_matches(_plain(word), by_plain, 1, 0.6)
    return by_plain[found[0]] if found else None


def refusal(argument: str, word: object, kind: str, words: Iterable[str]) -> str:
    """``argument: 'rbg' is not a known pixel format; did you mean 'rgb'? (rgb, rgba, ...)``"""
    words = list(words)
    near = nearest(word, words) if isinstance(word, str) else None
    guess = f"; did you mean {near!r}?" if near else ""
    name = f"{argument}: " if argument else ""
    return f"{name}{_shown(word)} is not a known {kind}{guess} ({', '.join(words)})"


def _shown(word: object) -> str:
    text = repr(word)
    return text if len(text) <= 80 else text[:77] + "..."
