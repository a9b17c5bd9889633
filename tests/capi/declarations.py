# SPDX-License-Identifier: Apache-2.0
"""What the headers of the C interface declare, read from their text."""
import re
from pathlib import Path
from typing import NamedTuple

HEADERS = sorted((Path(__file__).resolve().parents[2] / "include/halyard/c").glob("*.h"))
NAMES = Path(__file__).resolve().with_name("reference_functions.txt")


class Function(NamedTuple):
    name: str
    returns: str        # as written, one space between words, pointers at the type
    parameters: list    # (type, name)


def code_of(text):
    """Without comments, preprocessor lines and what enumerations and structs hold."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"^[ ]*#(?:[^\n\\]|\\.|\\\n)*", "", text, flags=re.M)
    text = re.sub(r"\b(HAL_BEGIN|HAL_END|HAL_ENUM_INT)\b", " ", text)
    return re.sub(r"\{[^{}]*\}", "{}", text)


def split_parameters(text):
    """Types and names; a comma between brackets is part of a type."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return [" ".join(p.split()) for p in parts if p.strip() not in ("", "void")]


def parameter(text):
    array = re.fullmatch(r"(.*)\(\*(\w*)\)(\[\d+\])", text)       # const float (*anchors)[2]
    if array:
        return f"{array[1].strip()} (*){array[3]}", array[2]
    callback = re.fullmatch(r"(.*)\(\*(\w*)\)(\(.*\))", text)
    if callback:
        return f"{callback[1].strip()} (*){callback[3]}", callback[2]
    match = re.fullmatch(r"(.*?[\s*])(\w+)", text)
    return re.sub(r"\s*\*", "*", match[1].strip()), match[2]


def functions(headers=None):
    """All functions, by name."""
    found = {}
    for header in headers or HEADERS:
        for statement in code_of(header.read_text()).split(";"):
            statement = " ".join(statement.split())
            match = re.fullmatch(r"((?:const |struct |enum )?\w+[\s*]+)(hal_\w+)\((.*)\)",
                                 statement)
            if match and not statement.startswith("typedef"):
                returns = re.sub(r"\s*\*", "*", match[1].strip())
                found[match[2]] = Function(match[2], returns,
                                           [parameter(p) for p in split_parameters(match[3])])
    return found


def opaque(headers=None):
    """Types that callers see the names of alone."""
    text = "".join(code_of(h.read_text()) for h in headers or HEADERS)
    names = set(re.findall(r"typedef struct (\w+) \1;", text))
    return names - set(re.findall(r"struct (\w+) \{\}", text))


def reference():
    """(generation, name) -> count of parameters."""
    rows = [line.split() for line in NAMES.read_text().splitlines() if not line.startswith("#")]
    return {(generation, name): int(count) for generation, name, count in rows}


def symbol(generation, name, found):
    """The function that `name` means in a generation."""
    newer = f"{name}_27"
    return newer if generation == "0.27" and newer in found else name
