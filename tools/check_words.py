# SPDX-License-Identifier: Apache-2.0
"""Rules of check.py about words: docs/glossary.md has one word for each thing, and within a layer a
name has one meaning."""
import functools
import re
from collections import defaultdict

from check_folders import name_of, quiet, statements

# Banned word -> its replacement.
BANNED = [
    (r"(?i)picture", "image; of a video: frame"),
    (r"\b(?:most|least)_\w", "max_, min_"),
    (r"\bHALYARD_CHECK\b", "HALYARD_RETURN_IF_ERROR"),
    (r"(?i)\bturned\b|\bquarter turns?\b", "rotated, rotation"),
    (r"(?i)\bgood until\b", "valid until"),
    (r"(?i)\bstands? (?:in|for|there|at|behind|beside|where)\b", "is documented in, is, means"),
    (r"(?i)\bModelSignals\b|\bsignals_of\b", "metadata"),
]
# The same for the library itself, whose comments and messages users read.
BANNED_IN_LIBRARY = [
    (r"(?i)\b(?:stands?|goes|says)\b", "is documented in, is, removes, returns, describes"),
    (r"(?i)\bcomes? about\b", "is made"),
]
LIBRARY = ("include/", "src/")
# Names of other projects, and names that programs depend on.
ALLOWED = re.compile(
    r"WebPPicture\w*|SSourcePicture|AV_PICTURE_TYPE_I|"
    r"picture_rate?\b|picture_rat\b|\"pictures?\"|`pictures`|"
    r"\bpicture:|\.picture\(\)")
# Parameters and members of the Python interface keep their names.
PYTHON = ("python/halyard/_overlay.py", "python/src/results/overlay.cpp",
          "python/halyard/_result.py", "python/halyard/_core.pyi")
# Where the words themselves are the subject.
EXEMPT = PYTHON + ("tools/check_words.py", "docs/glossary.md", "CHANGELOG.md", "tests/check/")

WORDY = {".cpp", ".h", ".c", ".py", ".pyi", ".md", ".cmake", ".sh", ".txt"}

# Functions that several files of a layer define for different types or builds.
OVERLOADS = {
    "to_string", "to_text", "to_c", "describe", "check_metadata", "place_of", "disagreement",
    # only one of the two files is built
    "video_source", "load", "describe_runtime",
    # members of a table, one per file format
    "decode", "parse",
}


@functools.cache
def banned_in(text, is_of_library):
    """(line, what) of each banned word."""
    text = ALLOWED.sub("", text)
    return [(1 + text.count("\n", 0, match.start()), f"{match.group(0)!r}: write {better}")
            for pattern, better in BANNED + (BANNED_IN_LIBRARY if is_of_library else [])
            for match in re.finditer(pattern, text)]


def rule_words(tree):
    """Texts use the words of docs/glossary.md and none of the words that these replaced."""
    for path, text in tree.files(suffixes=WORDY):
        if path.startswith(EXEMPT):
            continue
        for line, what in banned_in(text, path.startswith(LIBRARY)):
            tree.breach("words", path, line, what)


TYPE = re.compile(r"^(?:struct|class|enum class|enum) (?:HALYARD_\w+ )?(?!HALYARD_)(\w+)\b(?!::)"
                  r"[^;()]*\{", re.M)
VARIABLE = re.compile(r"^(?!(?:struct|class|enum|union|namespace|using|typedef|template|extern|"
                      r"return|friend|concept|requires)\b)\w[^;(){}=]*?[\s*&>](?!operator)(\w+)"
                      r"(?:\[[^\]]*\])*\s*(?:\{|=|;)", re.M)
ALIAS = re.compile(r"^(?:using|namespace) (\w+) = ([^;]*);", re.M)
# A function that Python calls; one of several with its name would have to be chosen.
BOUND = re.compile(r"[(,] ?&(\w+)[,)]")
ANONYMOUS = re.compile(r"^namespace \{\n(?:[^\n]*\n\}|.*?^\}  // namespace)$", re.M | re.S)
# Sources that a build with HALYARD_UNITY compiles by themselves (cmake/layer.cmake).
ALONE = re.compile(r"hwy/foreach_target\.h|^using enum ", re.M)
# Folders whose sources it may compile together.
TOGETHER = re.compile(r"(src/\w+|tests/\w+|tools/halyard|python/src)/(?!fakes/)")
APART = re.compile(r"tests/(?:support|conformance|oracle|package|check|python|tools|adapters)/|"
                   r"/fakes?/|src/model/openvino/|src/capture/libcamera/|tests/capi/generations/|"
                   r"\.c$")


def parameters_of(head, name):
    """The types of a function's parameters: what is left without the last word of each."""
    inside = re.sub(r"\s+", " ", head[head.index(name) + len(name):])
    return re.sub(r"(\w)\s*[\w]*(?=[,)=])", r"\1", inside)


def functions_of(text):
    """(name, head, kind) of a file's functions that are no members."""
    for _, head, kind, free in statements(text):
        name = name_of(head) if free else None
        if name and "::" not in name:
            yield name, head, kind


def names_of(text, is_library):
    """Yields the names of a file's types, variables and functions."""
    code = re.sub(r"//[^\n]*", "", text)
    yield from TYPE.findall(code)
    if not ALONE.search(text):
        yield from VARIABLE.findall(quiet(text))
    for name, head, kind in functions_of(text):
        if kind == "{" and name not in OVERLOADS:
            yield name if is_library else f"{name}{parameters_of(head, name)}"


def rule_names(tree):
    """Types, variables and functions of files that are compiled together have different names."""
    public = set()
    for path, text in tree.public_headers():
        code = re.sub(r"//[^\n]*", "", text)
        public |= set(TYPE.findall(code))
    places = defaultdict(lambda: defaultdict(set))
    aliases = defaultdict(lambda: defaultdict(set))
    bound = set()
    hiding = defaultdict(dict)
    hidden = defaultdict(set)
    for path, text in tree.files("src/", "tests/", "tools/halyard/", "python/src/",
                                 suffixes={".cpp", ".h"}):
        group = TOGETHER.match(path)
        is_library = path.startswith("src/")
        for name in TYPE.findall(re.sub(r"//[^\n]*", "", text)) if is_library else ():
            if name in public:
                tree.breach("names", path, 1, f"{name} is the name of a public type")
        if group and (is_library or not APART.search(path)):
            if group.group(1) == "python/src":
                bound |= set(BOUND.findall(quiet(text)))
            for name in names_of(text, is_library):
                places[group.group(1)][name].add(path)
            if not path.endswith("-inl.h") and not ALONE.search(text):
                for name, meaning in ALIAS.findall(text):
                    aliases[group.group(1), name][meaning].add(path)
            if path.endswith((".cpp", ".h")) and not ALONE.search(text):
                hiding[group.group(1)] |= {
                    name: path for name, _, kind in
                    functions_of("\n".join(ANONYMOUS.findall(text))) if kind == "{"}
                hidden[group.group(1)] |= {
                    name for name, _, _ in functions_of(ANONYMOUS.sub("", text))}
    # Functions may share a name, but not with a variable or a type.
    for group, names in places.items():
        for name in [name for name in names if "(" in name]:
            alone = name.split("(")[0]
            if alone in names or (group == "python/src" and alone in bound):
                names[alone] |= names[name]
    # Sources may give one type the same name, but not two.
    for (group, name), meanings in aliases.items():
        if len(meanings) > 1 or name in places[group]:
            places[group][name].update(*meanings.values())
    for names in places.values():
        for name, paths in sorted(names.items()):
            pair = {p.rsplit(".", 1)[0] for p in paths}
            if len(pair) > 1:
                tree.breach("names", sorted(paths)[0], 1,
                            f"{name} is in {', '.join(sorted(paths)[1:])} too")
    # Calls in the anonymous namespace of a source behind it would find only the first.
    for group, names in hiding.items():
        for name in sorted(names.keys() & hidden[group]):
            tree.breach("names", names[name], 1,
                        f"{name} is in an anonymous namespace here, and declared outside of one in "
                        f"{group}")
