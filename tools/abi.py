#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the exported interface of the shared library. Every exported symbol is declared in a
public header, no symbol of a linked library is exported, every declared C function is exported, and
the C interface equals docs/abi.txt: functions with version and parameters, values of enumerations
and macros, sizes and offsets of structures.

    tools/abi.py check LIBRARY      prints breaches, exits with 1 if there are any
    tools/abi.py write LIBRARY      rewrites docs/abi.txt, after an intended change

The C++ interface is not listed: its mangled names contain those of the standard library, they
depend on inlining, and before 1.0 every minor version has its own soname.
Needs Python 3, a C compiler ($CC) and binutils."""
import difflib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs/abi.txt"
NODES = {"HAL_0.24", "HAL_0.27", "HALYARD"}
CC = os.environ.get("CC", "cc").split()


def output(*command, **more):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True, **more).stdout


def exported(library):
    """[(name, version, kind)], C++ names demangled."""
    symbols = []
    for line in output("nm", "-DC", "--defined-only", "--with-symbol-versions",
                       library).splitlines():
        kind, name = line.split(maxsplit=2)[1:] if line[0] != " " else line.split(maxsplit=1)
        match = re.fullmatch(r"(.*?)@@?([\w.]+)", name)
        symbols.append((*(match.groups() if match else (name, "")), kind))
    return symbols


class CInterface:
    """The declarations of include/halyard/hal.h after preprocessing, of both generations."""

    def __init__(self):
        text = output(*CC, "-E", "-std=c11", "-I", ROOT / "include", "-x", "c",
                      ROOT / "include/halyard/hal.h")
        ours, keep = [], False
        for line in text.splitlines():
            marker = re.match(r'# \d+ "([^"]*)"', line)
            if marker:
                keep = "/halyard/hal." in marker.group(1) or "/halyard/c/" in marker.group(1)
            elif keep and not line.startswith("#"):
                ours.append(line)
        code = " ".join(" ".join(ours).split())
        self.enums = {name: re.findall(r"(\w+) =", body)
                      for name, body in re.findall(r"\benum (\w+) \{([^}]*)\}", code)}
        self.structs = {}
        for name, body in re.findall(r"\bstruct (\w+) \{([^}]*)\}", code):
            fields = [re.search(r"(\w+)(?:\[[^]]*\])*$|\(\*(\w+)\)", part.strip())
                      for declared in body.split(";") if declared.strip()
                      for part in declared.split(",")[:1]]
            self.structs[name] = [m.group(1) or m.group(2) for m in fields]
        self.functions = {}
        code = re.sub(r"\b(enum|struct) \w+ \{[^}]*\}", "", code)
        for part in code.split(";"):
            match = re.match(r"\s*(?!\s|typedef)([\w *]+?[ *])(hal_\w+)\s*\((.*)\)\s*$", part)
            if match:
                self.functions[match.group(2)] = " ".join(part.split())
        self.macros = sorted(set(re.findall(
            r"^#define (HAL_[A-Z0-9_]+)[ ]+-?\d+$", self.text_of_headers(), re.M))
            - {"HAL_API_VERSION"})

    @staticmethod
    def text_of_headers():
        return "\n".join(path.read_text(encoding="ascii")
                         for path in sorted((ROOT / "include/halyard/c").glob("*.h")))

    def measured(self):
        """Lines with values, sizes and offsets. Compiles and runs a program that prints them."""
        lines = []
        for name in self.macros:
            lines.append(f'printf("macro {name} %lld\\n", (long long)({name}));')
        for name, values in sorted(self.enums.items()):
            lines.append(f'printf("enum {name} size %zu\\n", sizeof(enum {name}));')
            lines += [f'printf("enum {name} {v} %lld\\n", (long long)({v}));' for v in values]
        for name, fields in sorted(self.structs.items()):
            lines.append(f'printf("struct {name} size %zu align %zu\\n", '
                         f"sizeof(struct {name}), _Alignof(struct {name}));")
            lines += [f'printf("struct {name} {f} at %zu size %zu\\n", '
                      f"offsetof(struct {name}, {f}), sizeof(((struct {name}*)0)->{f}));"
                      for f in fields]
        code = ('#include <stddef.h>\n#include <stdio.h>\n#include "halyard/hal.h"\n'
                "int main(void) {\n" + "\n".join(lines) + "\nreturn 0;\n}\n")
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "probe")
            subprocess.run([*CC, "-std=c11", "-I", str(ROOT / "include"), "-x", "c", "-", "-o",
                            str(program)], input=code, text=True, check=True)
            return output(program).splitlines()


def listing(interface, symbols):
    """The C interface in the form of docs/abi.txt."""
    versions = {}
    for name, version, _ in symbols:
        if name.startswith("hal_"):
            versions.setdefault(name, []).append(version)
    lines = [f"function {' '.join(sorted(versions.get(name, ['missing'])))}: {text}"
             for name, text in sorted(interface.functions.items())]
    return ["# The C interface as tools/abi.py sees it: `tools/abi.py write LIBRARY`.",
            *lines, *interface.measured()]


def declared_words():
    """Every identifier of the public headers, without comments."""
    words = set()
    for path in (ROOT / "include/halyard").rglob("*.h"):
        words |= set(re.findall(r"[A-Za-z_]\w*", re.sub(r"//.*", "", path.read_text("ascii"))))
    return words


def bare(name):
    """A demangled name without template arguments, parameters and result type."""
    depth, kept = 0, ""
    name = re.sub(r"^(?:vtable|VTT|typeinfo|typeinfo name|guard variable) for ", "", name)
    name = name.replace("(anonymous namespace)", "anonymous_namespace")
    name = re.sub(r"operator(?:<=>|<<|>>|->|\(\)|[<>]=?)", "operator_sign", name)
    for char in name:
        depth += char == "<"
        if depth == 0:
            kept += char
        depth -= char == ">"
    kept = kept.split("(")[0].split("[")[0]
    return kept.split()[-1] if kept.split() else kept


def breaches(interface, symbols):
    words = declared_words()
    for name, version, kind in symbols:
        if kind == "A":
            if name not in NODES:
                yield f"version node {name} is not known"
        elif name.startswith("hal_"):
            if name not in interface.functions:
                yield f"{name} is exported, but declared in no C header"
            if version not in ("HAL_0.24", "HAL_0.27"):
                yield f"{name} has no version (HAL_0.24 or HAL_0.27): '{version}'"
        else:
            parts = bare(name).split("::")
            if parts[0] != "halyard":
                yield f"{name} is not ours"
            else:
                unknown = [p for p in parts[1:]
                           if p.lstrip("~") not in words and not p.startswith("operator")]
                if unknown:
                    yield f"{name}: {unknown[0]} is in no public header"
    there = {name for name, _, _ in symbols}
    for name in sorted(set(interface.functions) - there):
        yield f"{name} is declared, but not exported"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("check", "write"):
        print(__doc__, file=sys.stderr)
        return 2
    symbols, interface = exported(sys.argv[2]), CInterface()
    lines = listing(interface, symbols)
    if sys.argv[1] == "write":
        LIST.write_text("\n".join(lines) + "\n", encoding="ascii")
        print(f"abi: {len(lines) - 1} lines in {LIST.relative_to(ROOT)}")
        return 0
    found = list(breaches(interface, symbols))
    old = LIST.read_text(encoding="ascii").splitlines()
    found += [f"docs/abi.txt: {line}" for line in difflib.unified_diff(old, lines, lineterm="", n=0)
              if re.match(r"[-+](?![-+])", line)]
    for line in found:
        print(line)
    print(f"abi: {len(symbols)} symbols, {len(interface.functions)} C functions, "
          f"{len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
