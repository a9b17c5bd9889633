#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Long: every rule stands here, so that --list and the tests find them by their names.
"""Checks the project's rules. Prints `path:line: rule: what` for each breach and exits with 1 if
there are any. Needs only Python 3; a C++ compiler for `headers`, clang-format-14 for `format`. Its
tables are in tools/check_tables.py.

    tools/check.py [--root DIR] [--only RULE]... [--list]
"""
import argparse
import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from check_calls import rule_calls  # noqa: F401  registered with the others
from check_folders import PIECE, SCOPE, quiet, rule_folders, rule_pairs  # noqa: F401  the same
from check_locks import rule_locks  # noqa: F401  registered with the others
from check_moves import rule_moves  # noqa: F401  the same
from check_words import rule_names, rule_words  # noqa: F401  the same
from check_tables import (ADAPTERS, C_HEADERS, COMPAT_HEADERS, HOMES, LAYERS, PRINTER, PRINTS,
                          PRIVATE_EXCEPTIONS, PUBLIC_HEADERS, PUBLIC_ONLY, SYSTEM, TO_COME,
                          reachable)

CPP = {".cpp", ".h", ".c", ".hpp"}
CODE = CPP | {".py", ".sh", ".cmake"}
CODE_NAMES = {"CMakeLists.txt", "Makefile", "run"}
TEXT = CODE | {".md", ".json", ".yaml", ".yml", ".toml", ".in", ".supp"}
MAX_COLUMNS, MAX_FILE_LINES, MAX_FUNCTION_LINES = 100, 400, 40
SHORT_FUNCTIONS = ("src/", "tools/", "include/", "python/src/")
# File -> why a function of it may be longer.
LONG_FUNCTIONS = {
    "include/halyard/message_members.h": "one branch for each number of members",
}
# Headers that many others include; larger ones first.
BASES = ("include/halyard/tensor.h", "include/halyard/result.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


class Tree:
    """All files below a root, read once, and the breaches found in them."""

    def __init__(self, root):
        self.root = Path(root).resolve()
        self.breaches = []
        self.notes = []
        self.texts = {}
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(d for d in folders if not self.is_foreign(folder, d))
            for name in sorted(names):
                path = Path(folder, name)
                if path.suffix in TEXT or name in CODE_NAMES:
                    relative = path.relative_to(self.root).as_posix()
                    self.texts[relative] = path.read_bytes().decode("utf-8", "surrogateescape")

    def is_foreign(self, folder, name):
        at_top = Path(folder) == self.root
        if name == "__pycache__" or (name.startswith(".") and name != ".ci"):
            return True
        return at_top and (name.startswith("build") or name == "out")

    def files(self, *prefixes, suffixes=CODE):
        for path, text in self.texts.items():
            name = path.rsplit("/", 1)[-1]
            fits = Path(path).suffix in suffixes or (suffixes is not CPP and name in CODE_NAMES)
            if fits and (not prefixes or path.startswith(prefixes)):
                yield path, text

    def public_headers(self):
        return [(p, t) for p, t in self.files("include/halyard/", suffixes={".h"})]

    def breach(self, rule, path, line, what):
        self.breaches.append(f"{path}:{line}: {rule}: {what}")


def public_name(path):
    """The name of a public header in the tables: its path below include/halyard, no suffix."""
    return re.sub(r"^include/(?:halyard|edgefirst)/|\.h$", "", path)


@functools.cache
def includes(text):
    """(line, whether in <>, name) of each include."""
    matches = [(number, INCLUDE.match(line)) for number, line in enumerate(text.splitlines(), 1)
               if "#" in line]
    return [(number, match.group(1) == "<", match.group(2)) for number, match in matches if match]


def rule_layers(tree):
    """CMakeLists.txt and the table in docs/architecture.md agree with LAYERS."""
    built = {}
    cmake = re.sub(r"#.*", "", tree.texts.get("CMakeLists.txt", ""))
    for body in re.findall(r"halyard_layer\(([^()]*)\)", cmake):
        words = body.split()
        depends, on = [], False
        for word in words[1:]:
            on = word == "DEPS" or (on and word != "LIBS")
            if on and word != "DEPS":
                depends.append(word)
        built[words[0]] = depends
    for name in sorted(set(LAYERS) | set(built)):
        if name not in LAYERS:
            tree.breach("layers", "CMakeLists.txt", 1,
                        f"layer {name} is not in tools/check_tables.py")
        elif name not in built:
            if name not in TO_COME:
                tree.breach("layers", "CMakeLists.txt", 1, f"layer {name} is not built")
        else:
            want = reachable(name, LAYERS) - (TO_COME - set(built))
            have = reachable(name, built)
            if have != want:
                tree.breach("layers", "CMakeLists.txt", 1,
                            f"layer {name} is linked above {sorted(have - {name})}, the table has "
                            f"{sorted(want - {name})}")
    for path in tree.texts:
        parts = path.split("/")
        if parts[0] == "src" and len(parts) > 2 and parts[1] not in LAYERS:
            tree.breach("layers", path, 1, f"src/{parts[1]} is not a layer")
    drawn = {}
    doc = "docs/architecture.md"
    for number, line in enumerate(tree.texts.get(doc, "").splitlines(), 1):
        match = re.match(r"\| `(\w+)` \|[^|]*\| ([^|]*) \|.*\|([^|]*)\|$", line)
        if match:
            drawn[match.group(1)] = (number, *(sorted(re.findall(r"`([\w/]+)`", match.group(i)))
                                               for i in (2, 3)))
    for name, below in LAYERS.items():
        if name not in drawn:
            tree.breach("layers", doc, 1, f"the layer table has no row for {name}")
        elif drawn[name][1] != sorted(below):
            tree.breach("layers", doc, drawn[name][0],
                        f"{name} depends on {sorted(below)}, the table has {drawn[name][1]}")
        headers = sorted(stem for stem, layer in PUBLIC_HEADERS.items()
                         if layer == name and f"include/halyard/{stem}.h" in tree.texts)
        if name in drawn and drawn[name][2] != headers:
            differ = sorted(set(drawn[name][2]) ^ set(headers))
            tree.breach("layers", doc, drawn[name][0], f"public headers of {name} differ: {differ}")


def check_public_include(tree, path, number, name, layers, what):
    owner = PUBLIC_HEADERS.get(name[len("halyard/"):-len(".h")])
    if name == "halyard/halyard.h" or (owner and owner not in layers):
        tree.breach("includes", path, number, f"{what} may not include {name}")
    elif owner is None:
        tree.breach("includes", path, number, f"{name} belongs to no layer (tools/check_tables.py)")


def rule_includes(tree):
    """Includes name only lower layers; private headers stay in their layer."""
    for path, text in tree.files("src/", "include/halyard/", suffixes=CPP):
        parts = path.split("/")
        private = parts[0] == "src"
        stem = public_name(path)
        if not private and stem == "halyard":
            continue
        layer = parts[1] if private else PUBLIC_HEADERS.get(stem)
        if layer not in LAYERS:
            if not private:
                tree.breach("includes", path, 1, "no layer owns it (tools/check_tables.py)")
            continue
        layers = reachable(layer, LAYERS)
        for number, angled, name in includes(text):
            if name.startswith("halyard/"):
                if angled:
                    tree.breach("includes", path, number, f'write "{name}", not <{name}>')
                check_public_include(tree, path, number, name, layers, f"layer {layer}")
            elif not angled:
                own = name.startswith(layer + "/") or "/" not in name
                own = own or (name.startswith("base/") and layer not in PUBLIC_ONLY)
                listed = any(path.startswith(folder) and name.startswith(tuple(prefixes))
                             for folder, prefixes in PRIVATE_EXCEPTIONS.items())
                if not private:
                    tree.breach("includes", path, number, f"public header includes private {name}")
                elif not own and not listed:
                    tree.breach("includes", path, number, f"{name} is private to another layer")
    for path, text in tree.files("examples/", "tools/halyard/", suffixes=CPP):
        for number, angled, name in includes(text):
            if not angled and name.split("/")[0] in LAYERS:
                tree.breach("includes", path, number, f"{name} is private to the library")


def rule_homes(tree):
    """Each outside header has one home; public headers include only the standard library."""
    homes = [(re.compile(pattern + r"\Z"), where) for pattern, where in HOMES]
    system = re.compile(rf"(?:{SYSTEM})\Z")
    for path, text in tree.files("include/", "src/", "tools/halyard/", "examples/", "python/",
                                 suffixes=CPP):
        is_c = public_name(path) in C_HEADERS or path.endswith(".c")
        for number, angled, name in includes(text):
            where = next((places for pattern, places in homes if pattern.match(name)), None)
            standard = re.fullmatch(r"[a-z_]+", name) or (is_c and re.fullmatch(r"std\w+\.h", name))
            if where is not None:
                if not path.startswith(tuple(where)):
                    tree.breach("homes", path, number, f"<{name}> belongs in {', '.join(where)}")
            elif angled and path.startswith("include/") and not standard:
                tree.breach("homes", path, number, f"public header includes <{name}>")
            elif angled and not standard and not system.match(name) and "halyard/" not in name:
                tree.breach("homes", path, number, f"<{name}> has no home (tools/check_tables.py)")


STRICT = "-Wall -Wextra -Wconversion -Wno-sign-conversion -Werror -Iinclude".split()


def library_flags(cxx, stem):
    """Flags to find an adapter's library: [] if none needed, None if not installed."""
    header, folder = ADAPTERS[stem]
    for flags in [], ["-isystem", f"/usr/include/{folder}"]:
        command = [*cxx, "-x", "c++", "-E", *flags, "-include", header, "/dev/null"]
        if subprocess.run(command, capture_output=True, check=False).returncode == 0:
            return flags
    return None


def precompiled(cxx, tree, base, folder):
    """The place of a header that many others include, compiled; None if it has errors."""
    place = Path(folder, public_name(base) + ".h")
    place.write_text(f'#include "{base[8:]}"\n', encoding="ascii")
    command = [*cxx, "-x", "c++-header", "-std=c++20", *STRICT, place, "-o", f"{place}.gch"]
    done = subprocess.run(command, cwd=tree.root, check=False, capture_output=True)
    return place if done.returncode == 0 else None


def rule_headers(tree):
    """Each public header compiles alone, twice, without a warning; adapters with their library."""
    cxx = next((c.split() for c in (os.environ.get("CXX"), "g++", "clang++-14", "clang++", "c++")
                if c and shutil.which(c.split()[0])), None)
    if cxx is None:
        tree.notes.append("headers: not checked, no C++ compiler here")
        return
    reached = {path: {f"include/{name}" for _, _, name in includes(text)}
               for path, text in tree.public_headers()}

    def compile_alone(path):
        stem = public_name(path)
        flags = ["-x", "c", "-std=c11"] if stem in C_HEADERS else ["-x", "c++", "-std=c++20"]
        # What a header includes is visible in it anyway.
        below = reachable(path, reached) - {path}
        place = next((place for base, place in bases if place and base in below), None)
        flags += ["-include", place] if place else []
        library = library_flags(cxx, stem) if stem in ADAPTERS else []
        if library is None:
            tree.notes.append(f"headers: {path} not compiled, <{ADAPTERS[stem][0]}> is not here")
            return path, None
        command = [*cxx, *flags, *STRICT, "-fsyntax-only", *library, "-"]
        unit = f'#include "{path[8:]}"\n' * 2
        return path, subprocess.run(command, input=unit, cwd=tree.root, text=True, check=False,
                                    capture_output=True)

    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bases = list(pool.map(lambda base: (base, precompiled(cxx, tree, base, folder)), BASES))
        for path, done in pool.map(compile_alone, reached):
            if done is not None and done.returncode != 0:
                errors = [e for e in done.stderr.splitlines() if "error" in e] or [done.stderr]
                tree.breach("headers", path, 1, f"does not compile alone: {errors[0]}")


def rule_umbrella(tree):
    """halyard.h includes every public header, except C headers, compat and adapters."""
    umbrella = "include/halyard/halyard.h"
    have = {name for _, _, name in includes(tree.texts.get(umbrella, ""))}
    for path, _ in tree.public_headers():
        alone = public_name(path) in C_HEADERS | COMPAT_HEADERS | ADAPTERS.keys()
        if path != umbrella and not alone and path[8:] not in have:
            tree.breach("umbrella", umbrella, 1, f"{path[8:]} is missing")
        if alone and path[8:] in have:
            tree.breach("umbrella", umbrella, 1, f"{path[8:]} does not belong here")


def rule_text(tree):
    """ASCII, no trailing space, no tabs, 100 columns, newline at the end."""
    for path, text in tree.files(suffixes=TEXT):
        name = path.rsplit("/", 1)[-1]
        is_code = Path(path).suffix in CODE or name in CODE_NAMES
        if text and not text.endswith("\n"):
            tree.breach("text", path, text.count("\n") + 1, "no newline at the end")
        for number, line in enumerate(text.split("\n"), 1):
            if not line.isascii():
                tree.breach("text", path, number, "a character that is not ASCII")
            if line != line.rstrip():
                tree.breach("text", path, number, "trailing space")
            if "\t" in line and name != "Makefile":
                tree.breach("text", path, number, "a tab")
            if is_code and len(line) > MAX_COLUMNS:
                tree.breach("text", path, number, f"{len(line)} columns, at most {MAX_COLUMNS}")


def rule_spdx(tree):
    """Every source begins with the licence line."""
    for path, text in tree.files():
        if "SPDX-License-Identifier: Apache-2.0" not in "".join(text.splitlines(True)[:3]):
            tree.breach("spdx", path, 1, "no SPDX-License-Identifier: Apache-2.0 at the head")


def rule_paths(tree):
    """No path of one machine; only .ci/run may use data beside the repository."""
    machine = re.compile(r"(?:(?<![\w./-])|(?<=-[IL]))/(?:work|opt|home|root|tmp)(?![\w-])"
                         r"|\.\./shared\b")
    for path, text in tree.files(suffixes=TEXT):
        for number, line in enumerate(text.splitlines(), 1):
            match = machine.search(line)
            if match and not (path == ".ci/run" and match.group(0).startswith("..")):
                tree.breach("paths", path, number, f"machine path {match.group(0)}")


def rule_environment(tree):
    """Only src/base/env.cpp reads the environment, and docs/env.md lists its variables."""
    source, doc = "src/base/env.cpp", "docs/env.md"
    code = re.sub(r"//.*", "", tree.texts.get(source, ""))
    read = set(re.findall(r'"(?:HALYARD_|EDGEFIRST_)?([A-Z][A-Z0-9_]*[A-Z0-9])"', code))
    read -= {"HOME", "XDG_CACHE_HOME"}  # of the system
    listed = {}
    for number, line in enumerate(tree.texts.get(doc, "").splitlines(), 1):
        match = re.match(r"\| `HALYARD_(\w+)` \|", line)
        if match:
            listed[match.group(1)] = number
    for name in sorted(read - set(listed)):
        tree.breach("environment", doc, 1, f"HALYARD_{name} is read, but not listed")
    for name in sorted(set(listed) - read):
        tree.breach("environment", doc, listed[name], f"HALYARD_{name} is listed, but not read")
    for path, text in tree.files("src/", "tools/halyard/", "include/", suffixes=CPP):
        for number, line in enumerate(text.splitlines(), 1):
            if path != source and re.search(r"\bgetenv\s*\(", line.split("//")[0]):
                tree.breach("environment", path, number, f"only {source} reads the environment")


def rule_printing(tree):
    """The program prints only through one file, which escapes text from outside."""
    for path, text in tree.files("tools/halyard/", suffixes=CPP):
        for number, line in enumerate(text.splitlines(), 1):
            match = re.search(PRINTS, re.sub(r'"(?:\\.|[^"\\])*"', '""', line).split("//")[0])
            if match and path != PRINTER:
                tree.breach("printing", path, number, f"{match.group(0)} prints: use {PRINTER}")


def rule_examples(tree):
    """Code in a page under `<!-- from FILE: FUNCTION -->` is that function of that file."""
    marker = re.compile(r"<!-- from (\S+): (\w+) -->\n```\w*\n(.*?)```", re.S)
    for path, text in tree.files(suffixes={".md"}):
        for match in marker.finditer(text):
            source, name, shown = match.groups()
            line = text.count("\n", 0, match.start()) + 1
            body = (rf"^(?:async )?def {name}\(.*:\n(?:\n* .*\n)*" if source.endswith(".py") else
                    rf"(?s:^\w[^\n;=]*\b{name}\([^;{{}}]*\) \{{\n.*?^\}}\n)")
            there = re.search(body, tree.texts.get(source, ""), re.M)
            if there is None:
                tree.breach("examples", path, line, f"{source} has no function {name}")
            elif there.group(0) != shown:
                tree.breach("examples", path, line, f"differs from {name} in {source}")


def function_lengths(text):
    """Yields (first line, lines) of each function body at namespace or class level."""
    stack, line = [], 1
    for head, end in PIECE.findall(quiet(text)):
        line += head.count("\n")
        if end == "{":
            inside = all(kind == "scope" for kind, _ in stack)
            if SCOPE.search(head):
                kind = "scope"
            else:
                kind = "function" if inside and ")" in head else "block"
            stack.append((kind, line))
        elif end == "}" and stack:
            kind, begin = stack.pop()
            if kind == "function":
                yield begin, line - begin + 1


def rule_length(tree):
    """Files above 400 lines give the reason ("// Long: ...") first; functions have up to 40."""
    for path, text in tree.files(suffixes=CODE):
        rows = text.splitlines()
        if len(rows) > MAX_FILE_LINES:
            if not any(re.match(r"\s*(//|#) Long: \S", row) for row in rows[:8]):
                tree.breach("length", path, 1, f"{len(rows)} lines, at most {MAX_FILE_LINES} "
                            'without a line "Long: why" at the head')
        if Path(path).suffix in CPP and path.startswith(SHORT_FUNCTIONS):
            for line, count in function_lengths(text):
                if count > MAX_FUNCTION_LINES and path not in LONG_FUNCTIONS:
                    tree.breach("length", path, line, f"a function of {count} lines")


def rule_format(tree):
    """clang-format 14 would change nothing."""
    program = shutil.which("clang-format-14")
    if program is None:
        tree.notes.append("format: not checked, clang-format-14 is not here")
        return
    paths = [p for p, _ in tree.files("include/", "src/", "tests/", "tools/", "examples/", "bench/",
                                      "fuzz/", "attack/", "python/", suffixes=CPP)]

    def errors_in(some):
        return subprocess.run([program, "--dry-run", "-Werror", *some], cwd=tree.root, text=True,
                              check=False, capture_output=True).stderr

    # The program's start takes longer than most files.
    count = 4 * os.cpu_count()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = "".join(pool.map(errors_in, [paths[i::count] for i in range(count) if paths[i:]]))
    lines = {}
    for path, line in re.findall(r"^([^:\n]+):(\d+):", errors, re.M):
        lines.setdefault(path, line)
    for path, line in lines.items():
        tree.breach("format", path, line, "clang-format would change this (make format)")
    if errors and not lines:
        tree.breach("format", paths[0], 1, errors.splitlines()[0])


RULES = {name[5:]: rule for name, rule in list(globals().items()) if name.startswith("rule_")}


def report(tree, rules):
    """Prints the breaches of a tree; returns the exit status."""
    for name in rules:
        RULES[name](tree)
    for note in tree.notes:
        print(f"note: {note}")
    for breach in tree.breaches:
        print(breach)
    print(f"check: {len(tree.texts)} files, {len(rules)} rules, {len(tree.breaches)} breaches")
    return 1 if tree.breaches else 0


def main():
    parser = argparse.ArgumentParser(description="Checks the project's rules.")
    parser.add_argument("--root", default=Path(__file__).resolve().parent.parent, metavar="DIR")
    parser.add_argument("--only", action="append", choices=sorted(RULES), metavar="RULE")
    parser.add_argument("--list", action="store_true", help="print the rules and stop")
    arguments = parser.parse_args()
    if arguments.list:
        for name, rule in RULES.items():
            print(f"{name:12} {rule.__doc__}")
        return 0
    if not (Path(arguments.root) / "include/halyard").is_dir():
        parser.error(f"--root {arguments.root}: no include/halyard there")
    return report(Tree(arguments.root), arguments.only or list(RULES))


if __name__ == "__main__":
    sys.exit(main())
