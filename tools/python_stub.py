#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the package's types for type checkers: python/halyard/_core.pyi for the extension,
__init__.pyi and edgefirst.pyi with the names of the package, typing.py with the words of each
enumeration. With --check, reports whether the files are up to date. Needs the built package on
PYTHONPATH, and nanobind.

    PYTHONPATH=build/python tools/python_stub.py [--check]
"""
import ast
import json
import pathlib
import re
import sys
import textwrap

FOLDER = pathlib.Path(__file__).parents[1] / "python/halyard"
HEADER = """# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from the extension: change its sources.
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional, SupportsIndex, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike, NDArray
from typing_extensions import Buffer

import halyard._detections
import halyard._devices
import halyard._masks
import halyard._results
import halyard._tiling
import halyard._tracking
from halyard._enums import (
{enums})
from halyard.typing import (
{words})

__version__: str

"""
PACKAGE = """# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from the package: change its sources.
from halyard import compat as compat
from halyard import edgefirst as edgefirst
from halyard import horus as horus
from halyard import typing as typing
from halyard._frames import open as open
"""
TYPING = '''# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py from _enums.py: change that.
"""Types for annotations where a call takes one of the package's enumerations: a member, or
its word. ``def crop(image: Tensor, fit: FitLike) -> Tensor: ...``"""
from typing import Literal, Union

'''
FIXES = [
    # nanobind uses a property's signature for its setter too.
    (r"(@(\w+)\.setter\n    def \w+\(self)\) -> ([^:]+): \.\.\.", r"\1, value: \3) -> None: ..."),
    (r"(@(\w+)\.setter\n    def \w+\(self)\) -> ([^:]+):\n", r"\1, value: \3) -> None:\n"),
    (r"def (__eq__|__ne__)\(self, \w+: [\w.]+, /\)", r"def \1(self, other: object, /)"),
    (r"numpy\.ndarray\b(?!\[)", "NDArray[Any]"),
    (r"\b(tuple|Iterator)\b(?=( \||[,):]|$))", r"\1[Any, ...]"),
    (r"Iterator\[Any, \.\.\.\]", "Iterator[Any]"),
    (r"\b(list|dict)\b(?=( \||[,):]))", r"\1[Any]"),
    (r"dict\[Any\]", "dict[str, Any]"),
    (r"halyard\._enums\.", ""),
    (r"\b(enums)\.(?=[A-Z])", ""),
    (r": object\b(?! = )(?=[,)])", ": Any"),
    (r": object (\| None )?= ", r": Any \1= "),
    (r"-> object:", "-> Any:"),
    (r": capsule\b", ": Any"),
    (r"\*args\)", "*args: Any)"),
    (r"(?<!\w)exc_type: Any", "exc_type: Any"),
    (r"(def orientation\(self, value: )tuple\[Flip, Rotation\]",
     r"\1ImageInfo | tuple[FlipLike, RotationLike] | Literal['raw'] | None"),
]

OVERRIDE = ("def decode_tracked(\n        self,\n        tracker: halyard._tracking.AnyTracker,\n"
            "        timestamp: int,")

# Results of lambdas, which nanobind declares as `object`.
RESULTS = {
    "array": "NDArray[Any]", "iosurface_id": "int | None",
    "iosurface_ref": "int | None", "__deepcopy__": "Tensor", "_from_shared": "Tensor",
    "to_source": "Any", "to_destination": "NDArray[numpy.float32]",
    "points_to_source": "NDArray[numpy.float32]", "points_to_destination": "NDArray[numpy.float32]",
    "take_protos": "Tensor | None", "take_mask_coefficients": "Tensor | None",
    "nms": "Nms | None", "normalized_boxes": "bool | None", "input_dims": "tuple[int, int] | None",
}
# Arrays and tuples, which nanobind declares without their contents.
THREE = "tuple[NDArray[numpy.float32], NDArray[numpy.float32], NDArray[numpy.uintp]]"
PRECISE = {
    "source": "tuple[int, int]", "destination": "tuple[int, int]",
    "letterbox": "tuple[float, float, float, float]", "crop": "tuple[float, float, float, float]",
    "forward": "tuple[float, float, float, float, float, float]",
    "backward": "tuple[float, float, float, float, float, float]",
    "pixel": "tuple[int | float, ...]", "finalize": THREE, "finalize_normalized": THREE,
    "materialize_masks": "list[NDArray[numpy.uint8]]",
}
FOUR = THREE[:-1] + ", list[TrackInfo]]"
# Results that depend on a parameter: for each call the parameters of its overloads and their
# results. The last form covers all remaining cases; calls of halyard.edgefirst have one form.
OVERLOADS = {
    "draw_masks": (
        ("tracker: halyard._tracking.AnyTracker | None = None", (
            ("tracker: halyard._tracking.AnyTracker", FOUR), ("tracker: None = None", THREE)))),
    "decode_proto": (
        ("max_boxes: int | None = None, batch: int | None = None", (
            ("max_boxes: int | None, batch: int", "halyard._results.ProtoDetections"),
            ("max_boxes: int | None = None, *, batch: int", "halyard._results.ProtoDetections"),
            ("max_boxes: int | None = None, batch: None = None", "Any")))),
}
# The buffer protocol by PEP 688, which types written in C have from Python 3.12.
BUFFER = (r'^(class (?:_Tensor|TensorMap|BufferLock):\n    """(?:.*\n)*?.*"""\n)',
          r"\1\n    def __buffer__(self, flags: int, /) -> memoryview: ...\n")


def of_both_modules(body):
    """Calls accept tensors of both modules; those of halyard.edgefirst return its own."""
    def parameters(match):
        taken = re.sub(r"(?<=[:\[|] )Tensor\b|(?<=\[)Tensor\b", "_Tensor", match[2])
        return match[1] + taken + match[3]

    body = re.sub(r"^( *def \w+\()(.*)(\) -> )", parameters, body, flags=re.M)
    parts = re.split(r"^(?=class )", body, flags=re.M)
    for i, part in enumerate(parts):
        if not part.startswith("class _Reference"):
            continue
        part = re.sub(r"-> Tensor\b", "-> _ReferenceTensor", part)
        part = re.sub(r"-> Decoder\b", "-> _ReferenceDecoder", part)
        if "(_Tensor)" not in part.splitlines()[0]:
            part = re.sub(r"^(    def .*-> _ReferenceTensor):$",
                          r"\1:  # type: ignore[override]", part, flags=re.M)
        parts[i] = part
    return "".join(parts)


def wrapped(line):
    """Breaks a long line with a `def` into one line per parameter."""
    match = re.match(r"^(\s*)(def \w+\()(.*)(\) -> .*?:)(  # type.*)?$", line)
    if len(line) <= 100 or not match:
        return line
    indent, start, inside, end, remark = match.groups()
    parts, depth = [""], 0
    for character in inside:
        depth += (character in "[(") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    lines = [f"{indent}    {part.strip()}," for part in parts if part]
    return "\n".join([indent + start + (remark or ""), *lines, indent + end])


def with_overloads(body):
    def forms(match):
        parameter, results = OVERLOADS[match["name"]]
        if parameter not in match["inside"]:
            return match[0]
        made = ["    @overload\n" + wrapped(
            f"{match['start']}{match['inside'].replace(parameter, taken)}) -> {gives}:")
                for taken, gives in results]
        return " ...\n".join(made)

    names = "|".join(OVERLOADS)
    return re.sub(rf"^(?P<start>    def (?P<name>{names})\()(?P<inside>.*)\) -> .*:$", forms, body,
                  flags=re.M)


def extension():
    import nanobind.stubgen

    import halyard._core as core
    import halyard._enums
    import halyard.typing

    name, core.__name__ = core.__name__, "halyard"
    generator = nanobind.stubgen.StubGen(core, include_private=True, quiet=True)
    for key, item in vars(core).items():
        if not key.startswith("__"):
            generator.put(item, name=key, parent=core)
    core.__name__ = name
    made = generator.get()
    body = made[re.search(r"^(class|def) ", made, re.M).start():]
    for pattern, instead in FIXES:
        # Applied to one or two lines; docstrings stay unchanged.
        body = re.sub(pattern, instead, body, flags=re.M) if "setter" in pattern else re.sub(
            r"^( *(?:def|class) .*|    \w+: .*)$",
            lambda line, p=pattern, i=instead: re.sub(p, i, line[0]), body, flags=re.M)
    for called, gives in RESULTS.items():
        body = re.sub(rf"(def {called}\(self.*\)) -> Any:", rf"\1 -> {gives}:", body)
    for called, gives in PRECISE.items():
        body = re.sub(rf"(def {called}\(self.*\)) -> (?:tuple|list)\[.*\]:", rf"\1 -> {gives}:",
                      body)
    body = re.sub(*BUFFER, body, flags=re.M)
    body = re.sub(r"def (__eq__)\(self, other: Any, /\)", r"def \1(self, other: object, /)", body)
    body = with_overloads(of_both_modules(body))
    enums = "".join(f"    {name} as {name},\n" for name in sorted(halyard._enums.__all__))
    words = "".join(f"    {name},\n" for name in sorted(halyard.typing.__all__)
                    if re.search(rf"\b{name}\b", body))
    header = HEADER.replace("{enums}", enums).replace("{words}", words)
    made = header + "\n".join(wrapped(line.rstrip()) for line in body.splitlines()) + "\n"
    # The decoder of halyard.edgefirst accepts fewer parameters than its base class.
    return made.replace(OVERRIDE, OVERRIDE.replace("(\n", "(  # type: ignore[override]\n", 1))


def package():
    import halyard

    lines, known = ["__version__: str"], {"__version__"}
    for module in sorted((halyard._core, *halyard._modules), key=lambda each: each.__name__):
        # Only the module's own names; imported names belong to the module that defines them.
        own = getattr(module, "__all__", vars(module))
        found = sorted({name for name in halyard.__all__ if name in own} - known)
        known.update(found)
        lines += [f"from {module.__name__} import {name} as {name}" for name in found]
    names = sorted(set(halyard.__all__))
    lines += ["", "__all__ = [", *(f'    "{name}",' for name in names), "]"]
    return PACKAGE + "\n".join(lines) + "\n"


def edgefirst():
    """The names that edgefirst takes from halyard, and its own definitions without bodies."""
    import halyard
    import halyard.edgefirst as module

    lines, own = [], []
    for node in ast.parse((FOLDER / "edgefirst.py").read_text()).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            lines += [ast.unparse(node)] if "*" not in ast.unparse(node) else []
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
            for item in ast.walk(node):
                if isinstance(item, ast.FunctionDef):
                    item.body = item.body[:1]  # the docstring
            text = re.sub(r"^(    def .*:)$", r"\1  # type: ignore[override]",
                          ast.unparse(node), flags=re.M)
            own.append("\n" + "\n".join(map(wrapped, text.splitlines())))
    for name in module.__all__:
        if getattr(module, name) is getattr(halyard, name, None) and name != "__version__":
            lines.append(f"from halyard import {name} as {name}")
    lines += ["Tensor = _core._ReferenceTensor", "Decoder = _core._ReferenceDecoder", *own]
    return PACKAGE.partition("\nfrom ")[0] + "\n" + "\n".join(lines) + "\n"


def filled(start, items, end):
    """`start`, the items and `end` in one line, or the items in lines of their own."""
    text = ", ".join(items) + end
    if len(start + text) <= 100:
        return start + text + "\n"
    return start + "\n" + textwrap.fill(text, 100, initial_indent=" " * 4,
                                        subsequent_indent=" " * 4, break_on_hyphens=False) + "\n"


def words_of(kind):
    """All that a call takes for a member: its word, other names and other words, and degrees."""
    others = [name.lower() for name, member in kind.__members__.items() if name != member.name]
    words = list(dict.fromkeys([*kind._word_list(), *others, *kind._aliases()]))
    return words + ([0, 90, 180, 270] if hasattr(kind, "_of_degrees") else [])


def typing():
    import halyard._enums

    names = halyard._enums.__all__
    kinds = [getattr(halyard._enums, name) for name in names]
    return "".join([
        TYPING, filled("from ._enums import (", names, ")"), "\n",
        filled("__all__ = [", sorted(f'"{name}Like"' for name in names), "]"), "\n",
        *(filled(f"{name}Like = Union[{name}, Literal[",
                 [json.dumps(word) for word in words_of(kind)], "]]")
          for name, kind in zip(names, kinds))])


def main():
    status = 0
    for name, made in (("_core.pyi", extension()), ("__init__.pyi", package()),
                       ("edgefirst.pyi", edgefirst()), ("typing.py", typing())):
        file = FOLDER / name
        if "--check" not in sys.argv[1:]:
            file.write_text(made)
        elif not file.is_file() or file.read_text() != made:
            print(f"{file} is not what {pathlib.Path(__file__).name} writes: run it")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
