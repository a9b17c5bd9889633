# SPDX-License-Identifier: Apache-2.0
"""Rules of check.py about the place of code: the number of files in a folder, and that functions of
x.h are in x.cpp of the same folder."""
import functools
import re
from collections import defaultdict
from pathlib import PurePosixPath

MAX_FOLDER_FILES = 25
CROWDED = ("src/", "tests/", "tools/halyard/", "python/src/")
# Folder -> why it may hold more files.
MORE_FILES = {
    "tests/python": "test runners find test_*.py and their helpers in one folder",
    "tests/tools": "the same",
}

# Private header -> why files other than its own .cpp implement it.
APART = {
    "src/capture/source.h": "the interface of sources, each of which has a file",
    "src/capture/ffmpeg/video_input.h": "declares a friend",
    "src/decode/compile/compile.h": "one file for each family of heads",
    "src/image/processor_impl.h": "the private half of processor.cpp and processor_batch.cpp",
    "src/image/cpu/cpu_program.h": "the interface of paths, each of which has a file",
    "src/image/cpu/resample/sampler.h": "the interface of samplers, each of which has a file",
    "src/model/session.h": "two implementations: with an engine and without one",
    "src/reconcile/buffer/negotiated_state.h": "the private half of negotiated_buffer.cpp",
    "src/reconcile/engines/engines.h": "one file for each group of engines",
    "src/tensor/memory/buffer_kinds.h": "one file for each kind of buffer",
}

QUIET = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.*?)\)"|"(?:\\.|[^"\\\n])*"|'
                   r"'(?:\\.|[^'\\\n])+'", re.S)
DIRECTIVE = re.compile(r"^[ ]*#(?:[^\n\\]|\\.|\\\n)*", re.M)
PIECE = re.compile(r"([^{};]*)([{};])")
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()=]*$")
SKIPPED = re.compile(r"\s*(?:using|typedef|static_assert|friend|extern\s+template|"
                     r"template\s*<\s*>)")


@functools.cache  # several rules read the same files
def quiet(text):
    """The code without comments, texts and directives; the line numbers stay the same."""
    text = QUIET.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    return DIRECTIVE.sub(lambda m: "\n" * m.group(0).count("\n"), text)


def without_templates(head):
    """The text without the parts between angle brackets."""
    if "<" not in head:
        return head.replace(">", "")
    kept, depth = "", 0
    for char in head:
        depth += (char == "<") - (char == ">" and depth > 0)
        if depth == 0 and char != ">":
            kept += char
    return kept


@functools.cache
def name_of(head):
    """The name in a declaration of a function, qualified as written; None for other heads."""
    if SKIPPED.match(head) or "operator" in head:
        return None
    head = re.sub(r"\b(?:noexcept|__attribute__|alignas|decltype|HALYARD_\w+)\s*\([^()]*\)", " ",
                  without_templates(head))
    head = head.split("(", 1)
    if len(head) == 1 or re.search(r"(?<![=!<>])=(?!=)", head[0]):
        return None
    match = re.search(r"([A-Za-z_][\w:]*)\s*$", head[0])
    return match.group(1) if match and len(head[0].split()) > 1 else None


@functools.cache
def statements(text):
    """(line, head, kind, is_free) of a file's declarations outside functions. Kind ";" is a
    declaration, "{" a definition; members of classes are not free."""
    found, stack, line = [], [], 1
    for head, end in PIECE.findall(quiet(text)):
        begin = line + head[:len(head) - len(head.lstrip())].count("\n")
        line += head.count("\n")
        is_code = "code" in stack
        if end == "{" and SCOPE.search(head):
            stack.append("namespace" if re.search(r"\b(?:namespace|extern)\b", head) else "class")
            continue
        if not is_code and (end == ";" or (end == "{" and ")" in head)):
            found.append((begin, head, end, all(kind == "namespace" for kind in stack)))
        if end == "{":
            stack.append("code")
        elif end == "}" and stack:
            stack.pop()
    return found


def rule_folders(tree):
    """No folder of code holds more than 25 files; each exception has a reason."""
    count = defaultdict(int)
    for path in tree.texts:
        if path.startswith(CROWDED):
            count[str(PurePosixPath(path).parent)] += 1
    for folder, files in sorted(count.items()):
        if files > MAX_FOLDER_FILES and folder not in MORE_FILES:
            tree.breach("folders", folder, 1, f"{files} files, at most {MAX_FOLDER_FILES}")
    for folder in MORE_FILES:
        if count[folder] <= MAX_FOLDER_FILES and folder in count:
            tree.breach("folders", folder, 1, "no excess of files: remove it from MORE_FILES")


def rule_pairs(tree):
    """Functions that src's x.h declares are in x.cpp of its folder; each exception has a reason."""
    defined = defaultdict(set)
    for path, text in tree.files("src/", suffixes={".cpp"}):
        for _, head, kind, _ in statements(text):
            name = name_of(head)
            if kind == "{" and name:
                defined[name.split("::")[-1]].add(path)
    for path, text in tree.files("src/", suffixes={".h"}):
        own = path[:-2] + ".cpp"
        for line, head, kind, free in statements(text):
            name = name_of(head) if kind == ";" and free else None
            if name is None:
                continue
            layer = "/".join(path.split("/")[:2]) + "/"
            where = {p for p in defined[name] if p.startswith(layer)}
            if where and own not in where and path not in APART:
                tree.breach("pairs", path, line, f"{name}() is in {', '.join(sorted(where))}")
