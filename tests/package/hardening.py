#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs a build and looks at each file that the system will load: whether it carries what the
flags of cmake/hardening.cmake ask for, and searches for libraries in its own prefix alone.

    hardening.py BUILD_FOLDER WORK_FOLDER [--plain]

Prints a line for each file. --plain, for builds without hardening, looks at search paths alone."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

COMPONENTS = ["", "python"]


def output(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                          text=True).stdout


def install(build, prefix):
    """Every component that the build has; the Python package goes into its own folder."""
    for component in COMPONENTS:
        words = ["--component", component] if component else []
        output("cmake", "--install", build, "--prefix", prefix / component, *words)


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


class Elf:
    """What readelf says of a file."""

    def __init__(self, path):
        self.path = path
        self.text = output("readelf", "-W", "--file-header", "--dynamic", "--segments", "--notes",
                           "--dyn-syms", path)
        self.symbols = set(re.findall(r"UND (\w+)", self.text))
        self.is_program = bool(re.search(r"^ +INTERP ", self.text, re.M))
        self.is_x86 = "X86-64" in self.text

    def segment_flags(self, name):
        found = re.search(rf"^ +{name}( +0x\w+){{5}} ([R ][W ][E ])", self.text, re.M)
        return found.group(2) if found else None

    def has_note(self, word):
        notes = re.search(r"x86 feature: ([\w, ]+)", self.text)
        return bool(notes) and word in notes.group(1).split(", ")

    def run_paths(self):
        return [folder for text in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", self.text)
                for folder in text.split(":")]


# What a call becomes a checked one of, whatever its arguments are.
REPLACED = {"sprintf", "snprintf", "vsprintf", "vsnprintf", "printf", "fprintf", "vfprintf",
            "longjmp", "realpath", "gets", "getwd"}


def checks(elf):
    """(name, whether it holds) for each property."""
    functions = elf.symbols - {"__stack_chk_fail"}
    yield "stack protector", "__stack_chk_fail" in elf.symbols
    # A file that calls none of the functions which glibc always replaces has nothing to check:
    # copies whose size is known stay as they are.
    yield "checked functions", (any(re.fullmatch(r"__\w+_chk", name) for name in functions)
                                or not functions & REPLACED)
    yield "RELRO", elf.segment_flags("GNU_RELRO") is not None
    yield "BIND_NOW", bool(re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW", elf.text))
    yield "no TEXTREL", "TEXTREL" not in elf.text
    yield "no executable stack", elf.segment_flags("GNU_STACK") in ("RW ", "R  ")
    if elf.is_program:
        yield "PIE", "DYN (" in elf.text
    if elf.is_x86:
        yield "SHSTK", elf.has_note("SHSTK")
        # A program begins with the C library's code, which is not always made for it.
        if not elf.is_program:
            yield "IBT", elf.has_note("IBT")


def strangers(elf, prefix):
    """Folders outside the prefix that the loader looks in for this file; an empty word is the
    current folder."""
    for folder in elf.run_paths():
        place = Path(os.path.normpath(folder.replace("$ORIGIN", str(elf.path.parent))))
        if not folder.startswith(("/", "$ORIGIN")) or not place.is_relative_to(prefix):
            yield folder


def unmarked_objects(build):
    """Objects of the library, the program and the package that are not made for control-flow
    enforcement: the linker is told to mark what it makes of them."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    outputs = [re.search(r" -o (\S+\.o) ", entry["command"]) for entry in commands]
    objects = [build / found.group(1) for found in outputs
               if found and not found.group(1).startswith(("tests/", "bench/", "fuzz/"))]
    objects = [path for path in objects if path.exists()]
    text = output("readelf", "-W", "--notes", *objects)
    for part in re.split(r"^File: ", text, flags=re.M)[1:]:
        if not re.search(r"x86 feature: IBT, SHSTK", part):
            yield part.split("\n", 1)[0]


def examine(path, prefix, plain):
    """The line to print, and whether all is well."""
    elf = Elf(path)
    wrong = [f"searches {folder or 'the current folder'}" for folder in strangers(elf, prefix)]
    held = ["own prefix"] if not wrong else []
    for name, holds in [] if plain else checks(elf):
        (held if holds else wrong).append(name if holds else f"lacks {name}")
    line = f"{path.relative_to(prefix)}: {', '.join(held)}"
    return line + (f"; WRONG: {', '.join(wrong)}" if wrong else ""), not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--plain", action="store_true")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    prefix = arguments.work.resolve() / "prefix"
    install(arguments.build, prefix)
    files = [path for path in sorted(prefix.rglob("*"))
             if path.is_file() and not path.is_symlink() and is_elf(path)]
    names = " ".join(path.name for path in files)
    is_well = "libhalyard.so" in names
    # The Python package has the object that runs networks where the build has it.
    package = [path.name for path in files if path.is_relative_to(prefix / "python")]
    if package and "libhalyard_openvino.so" in names and "libhalyard_openvino.so" not in package:
        print("python: libhalyard_openvino.so is not beside the library; WRONG")
        is_well = False
    for path in files:
        line, holds = examine(path, prefix, arguments.plain)
        print(line)
        is_well = is_well and holds
    if not arguments.plain and Elf(files[0]).is_x86:
        unmarked = list(unmarked_objects(arguments.build))
        for path in unmarked[:5]:
            print(f"{path}: not made for control-flow enforcement, one of {len(unmarked)}")
        is_well = is_well and not unmarked
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
