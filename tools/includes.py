#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles each source of a build by itself and writes no object, which takes two thirds of the
time: a source that lacks an include fails, also that of the header which declares its functions.
Without that one, a function of C would be one of C++ that no library exports.

    tools/includes.py BUILD_FOLDER [JOBS]
"""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def is_ours(path):
    """Whether it is neither generated nor of a package."""
    inside = path.relative_to(ROOT).parts[0] if path.is_relative_to(ROOT) else "."
    return not inside.startswith((".", "build"))


def compile_alone(entry):
    words = shlex.split(entry["command"])
    at = words.index("-o")
    words[at:at + 2] = ["-fsyntax-only"]
    # Highway's functions for each instruction set have no declaration.
    if "hwy/foreach_target.h" not in Path(entry["file"]).read_text():
        words.append("-Werror=missing-declarations")
    return subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True,
                          check=False)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    entries = json.loads(Path(sys.argv[1], "compile_commands.json").read_text())
    ours = {entry["file"]: entry for entry in entries if is_ours(Path(entry["file"]))}
    if not ours:
        sys.exit(f"includes: {sys.argv[1]} compiles no source of this project")
    jobs = int(sys.argv[2]) if len(sys.argv) == 3 else os.cpu_count()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for done in pool.map(compile_alone, ours.values()):
            print(done.stderr, end="", flush=True)
            failed += done.returncode != 0
    print(f"includes: {len(ours)} sources, {failed} do not compile by themselves")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
