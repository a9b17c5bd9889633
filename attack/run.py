#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of this folder, the random caller of the C interface, and clang's fuzz targets
if they are built, one after the other and again, until the time is used up. Prints a table;
ends with 1 if anything has failed. Reports and inputs of failures: out/attack/.

    attack/run.py [--minutes N] [--build DIR] [--fuzz DIR] [--only PATTERN] [--slice S] [--seed N]
"""
import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ("hostile_objects", "python_calls", "strides", "moving_bytes", "threads", "bad_files",
           "bombs", "program_ends", "interpreters", "leaks")
SUMMARY = re.compile(r"^\w+: (\d+) rounds, (\d+) calls, (\d+) refused, (\d+) equal, "
                     r"(\d+) failures, peak (\d+) MiB$", re.M)
# Memory that an interpreter keeps at its end is not a leak of ours.
SANITIZER = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=1",
             "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1", "TBB_ENABLE_SANITIZERS": "1"}


def cached(build, name):
    """A variable of a build folder's CMakeCache.txt, "" if it is not set."""
    cache = build / "CMakeCache.txt"
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text() if cache.exists() else "", re.M)
    return found.group(1) if found else ""


def preload(build):
    """The sanitizer's run-time, to be loaded before an interpreter without instrumentation, and the
    library whose exceptions it intercepts."""
    compiler = cached(build, "CMAKE_CXX_COMPILER") or "c++"
    paths = [subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True,
                            check=True).stdout.strip() for name in ("libasan.so", "libstdc++.so.6")]
    return " ".join(paths)


class Row:
    """One program and its results so far. It runs in slices of time."""

    def __init__(self, name, command, environment):
        self.name, self.command, self.environment = name, command, {**os.environ, **environment}
        self.rounds = self.calls = self.refused = self.equal = self.failures = 0
        self.peak_mib, self.seconds = 0, 0.0

    def arguments(self, seed, seconds, out):
        return ["--seed", str(seed), "--seconds", str(seconds), "--out", str(out)]

    def count(self, said, code):
        found = SUMMARY.search(said)
        if found is None:
            return 0 if code == 0 else 1
        figures = list(map(int, found.groups()))
        self.rounds, self.calls = self.rounds + figures[0], self.calls + figures[1]
        self.refused, self.equal = self.refused + figures[2], self.equal + figures[3]
        self.peak_mib = max(self.peak_mib, figures[5])
        return figures[4] or int(code != 0)

    def run(self, seed, seconds, out):
        """Runs a slice; reports a failure at once."""
        begin = time.monotonic()
        done = subprocess.run([*self.command, *self.arguments(seed, seconds, out)], check=False,
                              capture_output=True, text=True, errors="replace",
                              env=self.environment, stdin=subprocess.DEVNULL)
        self.seconds += time.monotonic() - begin
        if done.returncode == 77:  # skipped: the output tells what is missing
            return
        said = done.stdout + done.stderr
        failures = self.count(said, done.returncode)
        self.failures += failures
        if failures:
            (out / f"{self.name}-{seed}.log").write_text(said)
            print(f"-- {self.name}, seeds from {seed}, exit {done.returncode}\n{said[-4000:]}",
                  flush=True)

    def cells(self):
        minutes = max(self.seconds, 1e-9) / 60
        return (self.name, self.rounds, self.calls, self.refused, self.equal,
                f"{self.calls / minutes:.0f}", self.failures, self.peak_mib)


class Caller(Row):
    """tests/capi/random_calls: a seed and a count of calls."""

    CALLS = 20000

    def run(self, seed, seconds, out):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            super().run(seed, seconds, out)
            seed += 1

    def arguments(self, seed, seconds, out):
        return [str(seed % 2**31), str(self.CALLS)]

    def count(self, said, code):
        self.rounds, self.calls = self.rounds + 1, self.calls + self.CALLS
        return int(code != 0)


class Fuzzer(Row):
    """A libFuzzer target with its corpus in the repository, and one that grows beside the build."""

    def arguments(self, seed, seconds, out):
        name = self.name.removeprefix("fuzz ")
        grown, given = out / "corpus" / name, SOURCE / "fuzz" / "corpus" / name
        grown.mkdir(parents=True, exist_ok=True)
        return [f"-seed={seed % 2**31}", f"-max_total_time={int(seconds)}", "-rss_limit_mb=4096",
                "-timeout=20", "-print_final_stats=1", f"-artifact_prefix={out}/{name}-",
                str(grown), *([str(given)] if given.exists() else [])]

    def count(self, said, code):
        self.rounds += 1
        for name, most in (("number_of_executed_units", False), ("peak_rss_mb", True)):
            found = re.search(rf"stat::{name}:\s*(\d+)", said)
            value = int(found.group(1)) if found else 0
            if most:
                self.peak_mib = max(self.peak_mib, value)
            else:
                self.calls += value
        return int(code != 0)


def rows_of(build, fuzz):
    """The rows of everything that is built."""
    sanitized = "address" in cached(build, "HALYARD_SANITIZE")
    common = dict(SANITIZER) if sanitized else {}
    program = build / "halyard"
    python = {**common, "PYTHONPATH": str(build / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    if sanitized:
        python["LD_PRELOAD"] = preload(build)
    if program.exists():
        python["HALYARD_PROGRAM"] = str(program)
    interpreter = cached(build, "HALYARD_PYTHON_INTERPRETER") or sys.executable
    if (build / "python").is_dir():
        for name in SCRIPTS:
            yield Row(name, [interpreter, str(SOURCE / "attack" / f"{name}.py")], python)
    for path in sorted((build / "attack").glob("attack_*")):
        yield Row(path.name.removeprefix("attack_"), [str(path)], common)
    caller = build / "tests" / "capi" / "halyard_test_capi_random_calls"
    if caller.exists():
        yield Caller("capi_random_calls", [str(caller)], common)
    for path in sorted((fuzz / "fuzz").glob("halyard_fuzz_*")):
        if path.is_file() and os.access(path, os.X_OK):
            yield Fuzzer("fuzz " + path.name.removeprefix("halyard_fuzz_"), [str(path)], SANITIZER)


def table(rows):
    head = ("program", "rounds", "calls", "refused", "equal", "calls/min", "failures", "peak MiB")
    lines = [head, *(row.cells() for row in rows)]
    wide = [max(len(str(line[i])) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(str(cell).ljust(wide[i]) if i == 0 else str(cell).rjust(wide[i])
                        for i, cell in enumerate(line)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build-asan")
    parser.add_argument("--fuzz", type=pathlib.Path, default=SOURCE / "build-fuzz",
                        help="build folder with clang's fuzz targets")
    parser.add_argument("--out", type=pathlib.Path, default=SOURCE / "out" / "attack")
    parser.add_argument("--only", help="programs whose whole name matches this pattern")
    parser.add_argument("--slice", type=float, default=30, help="seconds of a turn")
    parser.add_argument("--seed", type=int, default=int(time.time()) * 1000)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    rows = [row for row in rows_of(given.build.resolve(), given.fuzz.resolve())
            if given.only is None or re.fullmatch(given.only, row.name)]
    if given.list:
        print("\n".join(row.name for row in rows))
        return 0
    if not rows:
        parser.error(f"nothing is built in {given.build} and {given.fuzz}")
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + given.minutes * 60
    for turn, row in ((turn, row) for turn in itertools.count() for row in rows):
        left = end - time.monotonic()
        if left <= 0:
            break
        # Seeds of a turn are far apart, so that none is run twice.
        row.run(given.seed + turn * 100000, max(1, min(given.slice, left)), out)
    table(rows)
    return 1 if any(row.failures for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
