#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds faults that the tests of a layer miss: puts one-line faults into src/LAYER, one at a time,
at places chosen by a seed, builds the layer's suite and runs it. Prints each fault that no test
found, and at the end the count of those that were found. It changes only the worktree out/mutants,
which holds the committed files.

    tools/mutants.py LAYER [--seed N] [--count N] [--jobs N]
"""
import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Dict, List, NamedTuple, Tuple

ROOT = Path(__file__).resolve().parents[1]

# A pattern of code as clang-format writes it (binary operators have spaces on both sides), and its
# replacement. Some faults do not change the meaning, some do not compile.
FAULTS: List[Tuple[str, str]] = [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* (?=[\w(])", " / "), (r" \+= ", " -= "),
    (r" -= ", " += "), (r"\bstd::min\b", "std::max"), (r"\bstd::max\b", "std::min"),
    (r"\btrue\b", "false"), (r"\bfalse\b", "true"), (r"(?<=[( ])!(?=[\w(])", ""),
    (r"\bcontinue;", ";"), (r"\bbreak;", ";"),
    (r"(?<![\w.'])(\d+)(?![\w.'])", "+1"),
]
SKIPPED = re.compile(
    r"^\s*(#|//|\*|static_assert|HALYARD_ASSERT|namespace|using|template|case )")


class Place(NamedTuple):
    """One fault: a line of a file, before and after."""

    path: str
    line: int  # from 1
    before: str
    after: str


def code_of(line: str) -> str:
    """The line with texts and comments blanked; its length stays the same."""
    blank = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'',
                   lambda text: "\0" * len(text.group()), line)
    at = blank.find("//")
    return blank if at < 0 else blank[:at] + "\0" * (len(blank) - at)


def places_in(path: str, text: str) -> List[Place]:
    """All possible faults of a file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if SKIPPED.match(line):
            continue
        code = code_of(line)
        for pattern, becomes in FAULTS:
            for match in re.finditer(pattern, code):
                new = str(int(match.group(1)) + 1) if becomes == "+1" else becomes
                after = line[:match.start()] + new + line[match.end():]
                found.append(Place(path, number, line, after))
    return found


def draw(files: Dict[str, str], seed: int) -> List[Place]:
    """All places in random order by the seed; all orders are equally likely."""
    places = [place for path in sorted(files) for place in places_in(path, files[path])]
    random.Random(seed).shuffle(places)
    return places


class Suite:
    """The test suite of a layer, built in a worktree."""

    def __init__(self, layer: str, jobs: int) -> None:
        self.tree = ROOT / "out/mutants"
        self.target, self.jobs = f"halyard_test_{layer}", jobs
        if not (self.tree / ".git").exists():
            self.tree.parent.mkdir(exist_ok=True)
            subprocess.run(["git", "-C", ROOT, "worktree", "prune"], check=True)
            subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", self.tree],
                           check=True, capture_output=True)
        subprocess.run(["git", "-C", self.tree, "checkout", "--force", "--detach", self.head()],
                       check=True, capture_output=True)
        subprocess.run(["cmake", "--preset", "release", "-DHALYARD_TESTS=ON",
                        "-DHALYARD_WERROR=OFF"], cwd=self.tree, check=True, capture_output=True)

    @staticmethod
    def head() -> str:
        done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], check=True, text=True,
                              capture_output=True)
        return done.stdout.strip()

    def builds(self) -> bool:
        done = subprocess.run(["cmake", "--build", "build", "-j", str(self.jobs), "--target",
                               self.target], cwd=self.tree, capture_output=True)
        return done.returncode == 0

    def passes(self, limit: float) -> bool:
        """Whether all tests pass within `limit` seconds."""
        try:
            done = subprocess.run([f"build/tests/{self.target}", "--gtest_fail_fast",
                                   "--gtest_brief=1"], cwd=self.tree, capture_output=True,
                                  timeout=limit, env={**os.environ, "ASAN_OPTIONS": ""})
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def sources(self, layer: str) -> Dict[str, str]:
        files = sorted((self.tree / "src" / layer).rglob("*.cpp"))
        return {path.relative_to(self.tree).as_posix(): path.read_text() for path in files}

    def try_place(self, place: Place, limit: float) -> str:
        """"found", "survives" or "is no program"."""
        path = self.tree / place.path
        text = path.read_text()
        lines = text.splitlines(keepends=True)
        lines[place.line - 1] = place.after + "\n"
        path.write_text("".join(lines))
        try:
            if not self.builds():
                return "is no program"
            return "survives" if self.passes(limit) else "found"
        finally:
            path.write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("layer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    if not (ROOT / "tests" / given.layer).is_dir() or not (ROOT / "src" / given.layer).is_dir():
        parser.error(f"layer: {given.layer} is not a folder of src/ and tests/")
    suite = Suite(given.layer, given.jobs)
    if not suite.builds():
        sys.exit("mutants: the suite does not build without a fault")
    begin = time.monotonic()
    if not suite.passes(600):
        sys.exit("mutants: the suite does not pass without a fault")
    limit = 3 * (time.monotonic() - begin) + 10
    counts = {"found": 0, "survives": 0}
    for place in draw(suite.sources(given.layer), given.seed):
        if sum(counts.values()) == given.count:
            break
        outcome = suite.try_place(place, limit)
        if outcome in counts:
            counts[outcome] += 1
        if outcome == "survives":
            print(f"{place.path}:{place.line}: survives\n- {place.before.strip()}\n"
                  f"+ {place.after.strip()}", flush=True)
    tried = sum(counts.values())
    print(f"mutants: {given.layer}, seed {given.seed}: {counts['found']} of {tried} found, "
          f"{time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
