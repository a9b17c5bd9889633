# SPDX-License-Identifier: Apache-2.0
"""A rule of check.py: what a defaulted move leaves behind. A number, flag or pointer is copied by
it, so that an object that was moved from still believes in memory that it has given away."""
import re

OPEN = re.compile(r"^[ ]*(?:class|struct)\s+(?:HALYARD_\w+\s+)?([\w:]+)\s*(?:final\s*)?"
                  r"(?::[^;{]*)?\{", re.M)
SCALAR = re.compile(
    r"^\s+(?:mutable\s+)?(?:const\s+)?(?:(?:std::)?(?:size_t|ptrdiff_t|u?intptr_t|u?int\d+_t)|bool|"
    r"int|unsigned|long|[\w:]+(?:<[^;()]*>)?(?:\s+const)?\s*\*)\s*(\w+_)"
    r"(?:\s*=[^;]*|\s*\{[^;]*\})?;", re.M)
ARRAY = re.compile(r"\bunique_ptr<[^;>]*\[\]\s*>\s+\w+_\s*;")


def body_of(text, begin):
    """The text from `begin`, behind an opening brace, to the brace that closes it."""
    depth = 1
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin:at]
    return text[begin:]


def own_members(body):
    """The body without those of nested classes and functions: line for line, what is declared."""
    kept, depth = [], 0
    for char in body:
        depth -= char == "}"
        kept.append(char if depth == 0 or char == "\n" else "")
        depth += char == "{"
    return "".join(kept)


def rule_moves(tree):
    """No defaulted move beside a raw number, flag or pointer: write Moved<T>, or the move."""
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
            members = own_members(body_of(text, match.end()))
            move = re.search(rf"(?<!\w){name}\({name}&&\s*\w*\)\s*(?:noexcept)?\s*(=\s*\w+|[;:]|)",
                             members)
            copies = re.search(rf"{name}\(const {name}&\)\s*=\s*delete", members)
            if move is None:
                # Moves by itself, where nothing forbids it: an array must not leave its size.
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
