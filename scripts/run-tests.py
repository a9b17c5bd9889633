#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a build's tests with ctest and prints a summary: the tests per layer, the skipped tests per
suite, the output of failed tests, and the count as the last line. A test is a case of a GoogleTest
program (run-cases.py) or of the Python package, which ctest runs in parts, or another entry of
ctest.

    scripts/run-tests.py BUILD_FOLDER [ctest argument...]

-R and -E choose among all of them by name, for example -R ipc.Kill.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

PART = r"\.part_[0-9]+$"
MAX_LINES = 60  # of the output of a failed test
# OpenGL on the CPU compiles each shader on a machine's first run. Without optimisation and for
# narrow vectors that takes less than half the time, and the pixels are the same.
LLVMPIPE = {"GALLIVM_PERF": "nopt", "LP_NATIVE_VECTOR_WIDTH": "128"}


def ctest_arguments(given, environment):
    """The arguments for ctest. The expressions for cases go into the environment."""
    arguments = []
    given = iter(given)
    for word in given:
        if word in ("-R", "-E"):
            pattern = next(given, "")
            environment["HALYARD_CASES" if word == "-R" else "HALYARD_CASES_NOT"] = pattern
            arguments += [word, f"({pattern})|{PART}" if word == "-R" else pattern]
        else:
            arguments.append(word)
    return arguments


def entries_of(report):
    """(name, status, output) of each entry of ctest."""
    for case in xml.parse(report).getroot().iter("testcase"):
        status = {"run": "passed", "fail": "failed"}.get(case.get("status"), "skipped")
        if case.get("status") == "disabled":
            status = "disabled"
        elif status == "skipped" and "SKIP" not in (case.find("skipped").get("message") or ""):
            status = "failed"  # it could not run
        yield case.get("name"), status, (case.findtext("system-out") or "")


def results_of(build, report):
    """{name: status} of all tests, and {name: output} of those that failed."""
    statuses, outputs = {}, {}
    for name, status, output in entries_of(report):
        record = build / "tests/cases" / name
        if not re.search(PART, name):
            statuses[name] = status
        elif record.exists():
            for line in record.read_text().splitlines():
                word, _, case = line.split(" ", 2)
                statuses[case] = word
        if status == "failed" and not record.exists():
            statuses[name], outputs[name] = "failed", output
        for block in re.split(r"^--- ", output, flags=re.M)[1:]:
            outputs[block.split("\n", 1)[0]] = block
    return statuses, outputs


def summarise(statuses, outputs):
    ran = {name: status for name, status in statuses.items() if status != "disabled"}
    print("\nTests per layer:")
    for layer, count in sorted(collections.Counter(n.split(".")[0] for n in ran).items()):
        print(f"  {layer:<12} {count:6}")
    skipped = [name for name, status in ran.items() if status == "skipped"]
    print(f"Skipped: {len(skipped)}; disabled: {len(statuses) - len(ran)}")
    # Names of a suite once: layer.Suite/with_parameter is one of layer.Suite.
    suites = collections.Counter(".".join(name.split(".")[:2]) for name in skipped)
    for suite, count in sorted(suites.items()):
        print(f"  {suite:<60} {count:4}")
    failed = [name for name, status in ran.items() if status == "failed"]
    for name in failed:
        lines = outputs.get(name, "").splitlines()
        print(f"\nFailed: {name}", *lines[-MAX_LINES:], sep="\n")
    passed = len(ran) - len(failed)
    share = passed * 100 // len(ran) if ran else 0
    print(f"{share}% tests passed, {len(failed)} tests failed out of {len(ran)}")
    return len(failed)


def main():
    if len(sys.argv) < 2 or not Path(sys.argv[1], "CTestTestfile.cmake").exists():
        sys.exit(f"run-tests: usage: run-tests.py BUILD_FOLDER [ctest argument...]; no tests in "
                 f"'{''.join(sys.argv[1:2])}'")
    build = Path(sys.argv[1]).resolve()
    if not os.environ.get("HALYARD_TESTDATA_DIR"):
        print("run-tests: HALYARD_TESTDATA_DIR is not set: tests on real data will be skipped",
              flush=True)
    environment = {**LLVMPIPE, **os.environ}
    arguments = ctest_arguments(sys.argv[2:], environment)
    report = build / "test-results.xml"
    report.unlink(missing_ok=True)
    shutil.rmtree(build / "tests/cases", ignore_errors=True)
    # Tests wait for other processes and for time, so one more than can run at once.
    jobs = int(os.environ.get("JOBS", os.cpu_count())) + 1
    code = subprocess.run(
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-j",
         str(jobs), "--output-junit", report,
         "--test-output-size-failed", "1000000", *arguments],
        stdin=subprocess.DEVNULL, env=environment, check=False).returncode
    if not report.exists():
        print(f"ctest wrote no results (exit {code})")
        return code or 1
    statuses, outputs = results_of(build, report)
    if not statuses:
        print("run-tests: no test has such a name")
    failed = summarise(statuses, outputs)
    return 1 if failed or code != 0 or not statuses else 0


if __name__ == "__main__":
    sys.exit(main())
