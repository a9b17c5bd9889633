# SPDX-License-Identifier: Apache-2.0
"""Rule `moves` of check.py. A defaulted move copies numbers, flags and pointers, so that an object
that was moved from still refers to memory that it no longer owns."""
import functools
import re

OPEN = re.compile(r"^[ ]*(?:class|struct)\s+(?:HALYARD_\w+\s+)?([\w:]+)\s*(?:final\s*)?"
                  r"(?::[^;{]*)?\{", re.M)
SCALAR = re.compile(
    r"^\s+(?:mutable\s+)?(?:const\s+)?(?:(?:std::)?(?:size_t|ptrdiff_t|u?intptr_t|u?int\d+_t)|bool|"
    r"int|unsigned|long|[\w:]+(?:<[^;()]*>)?(?:\s+const)?\s*\*)\s*(\w+_)"
    r"(?:\s*=[^;]*|\s*\{[^;]*\})?;", re.M)
ARRAY = re.compile(r"\bunique_ptr<[^;>]*\[\]\s*>\s+\w+_\s*;")


@functools.cache
def own_members(text, begin):
    """What follows an opening brace up to its closing brace, without the bodies of nested classes
    and functions; line numbers stay the same."""
    kept, depth = [], 0
    for piece in re.split(r"([{}])", text[begin:]):
        depth -= piece == "}"
        if depth < 0:
            break
        kept.append(piece if depth == 0 else "\n" * piece.count("\n"))
        depth += piece == "{"
    return "".join(kept)


def rule_moves(tree):
    """No defaulted move in a class with a raw number, flag or pointer: use Moved<T> or write it."""
    places = ("include/", "src/", "tools/halyard/", "python/src/")
    files = [(path, re.sub(r"//[^\n]*", "", text))
             for path, text in tree.files(*places, suffixes={".h", ".cpp"})]
    outside = set()
    for _, text in files:
        for name, other in re.findall(r"\b(\w+)::(\w+)\((?:[\w:]+::)?\w+&&\s*\w*\)\s*"
                                      r"(?:noexcept)?\s*=\s*default;", text):
            if name == other:
                outside.add(name)
    for path, text in files:
        for match in OPEN.finditer(text):
            name = match.group(1).split("::")[-1]
            members = own_members(text, match.end())
            move = re.search(rf"(?<!\w){name}\({name}&&\s*\w*\)\s*(?:noexcept)?\s*(=\s*\w+|[;:]|)",
                             members)
            copies = re.search(rf"{name}\(const {name}&\)\s*=\s*delete", members)
            if move is None:
                # Without a declared move the class moves by default, unless copies are forbidden.
                # An array must not leave its size behind.
                is_default = not copies and ARRAY.search(members) and f"~{name}(" not in members
            else:
                inside = move.group(1).replace(" ", "")
                is_default = inside == "=default" or (inside == ";" and name in outside)
            if not is_default:
                continue
            for member in SCALAR.finditer(members):
                line = 1 + text[:match.end()].count("\n")
                line += members[:member.start(1)].count("\n")
                tree.breach("moves", path, line, f"{name} moves by default and leaves "
                            f"{member.group(1)} behind (Moved<T>)")
