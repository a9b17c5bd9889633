# SPDX-License-Identifier: Apache-2.0
"""Rules of check.py about words: docs/glossary.md has one word for each thing, and within a layer a
name has one meaning."""
import functools
import re
from collections import defaultdict
from typing import NamedTuple

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
    "to_string", "to_text", "check_metadata", "place_of", "disagreement",
    "video_source",  # only one of the two files is built
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
# constexpr std::chrono::seconds first_time(1), second_time(2);
IN_BRACKETS = re.compile(r"^(?:inline |static )?const(?:expr)? [\w:<>]+ "
                         r"(\w+\([^()&*;]+\)(?:, \w+\([^()&*;]+\))*);", re.M)
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


class Names(NamedTuple):
    """What a file calls things at namespace level."""
    types: list
    variables: list
    functions: list  # (name, head, is defined)
    inside: set  # functions of anonymous namespaces
    outside: set  # other functions, also declared ones
    aliases: list
    bound: list  # see BOUND


def functions_of(text):
    """(name, head, is defined) of a file's functions that are no members."""
    named = [(name_of(head), head, kind == "{") for _, head, kind, free in statements(text) if free]
    return [each for each in named if each[0] and "::" not in each[0]]


@functools.cache  # most seeded breaches leave most texts as they are
def names_in(text):
    types = TYPE.findall(re.sub(r"//[^\n]*", "", text))
    if ALONE.search(text):
        return Names(types, [], functions_of(text), set(), set(), [], [])
    variables = VARIABLE.findall(quiet(text))
    for several in IN_BRACKETS.findall(quiet(text)):
        variables += re.findall(r"(\w+)\(", several)
    return Names(types, variables, functions_of(text),
                 {name for name, _, is_defined in functions_of("\n".join(ANONYMOUS.findall(text)))
                  if is_defined},
                 {name for name, _, _ in functions_of(ANONYMOUS.sub("", text))},
                 ALIAS.findall(text), BOUND.findall(quiet(text)))


def rule_names(tree):
    """Types, variables and functions of files that are compiled together have different names."""
    public = {name for _, text in tree.public_headers() for name in names_in(text).types}
    places = defaultdict(lambda: defaultdict(set))
    aliases = defaultdict(lambda: defaultdict(set))
    hiding, hidden, bound = defaultdict(dict), defaultdict(set), set()
    for path, text in tree.files("src/", "tests/", "tools/halyard/", "python/src/",
                                 suffixes={".cpp", ".h"}):
        found, is_library = names_in(text), path.startswith("src/")
        for name in () if path.startswith("tests/") else public.intersection(found.types):
            tree.breach("names", path, 1, f"{name} is the name of a public type")
        together = TOGETHER.match(path)
        if not together or (APART.search(path) and not is_library):
            continue
        group = together.group(1)
        for name in found.types + found.variables:
            places[group][name].add(path)
        for name, head, is_defined in found.functions:
            if is_defined and name not in OVERLOADS:
                parameters = "" if is_library else parameters_of(head, name)
                places[group][name + parameters].add(path)
        for name, meaning in () if path.endswith("-inl.h") else found.aliases:
            aliases[group, name][meaning].add(path)
        if path.endswith((".cpp", ".h")):
            hiding[group] |= dict.fromkeys(found.inside, path)
            hidden[group] |= found.outside
        bound |= set(found.bound) if group == "python/src" else set()
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
