#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs one part of the cases of a GoogleTest program, all in one process, and writes a line
`status seconds name` for each case; status is passed, failed, skipped or disabled. Prints the
output of failed cases. A case that ends the process, or takes longer than the limit, fails, and the
cases after it run in a new process.

    run-cases.py --name LAYER --part 1/4 --record FILE [--limit SECONDS] [--each] -- PROGRAM...

--each starts a process for each case.
A case is called LAYER.Suite.case. HALYARD_CASES and HALYARD_CASES_NOT, two regular expressions,
choose by that name.
"""
import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path


def cases_of(program):
    """Names as GoogleTest filters take them."""
    done = subprocess.run([*program, "--gtest_list_tests"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"run-cases: {program[-1]} lists no cases (exit {done.returncode}):\n"
                 f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
    suite, names = "", []
    for line in done.stdout.splitlines():
        name = line.split("  # ")[0].rstrip()
        if not line.startswith(" "):
            suite = name if name.endswith(".") else ""
        elif suite:
            names.append(suite + name.strip())
    return names


def is_disabled(name):
    return any(word.startswith("DISABLED_") for word in re.split(r"[./]", name))


def started(log):
    """The cases that the program began, in order, each with its output."""
    parts = re.split(r"^\[ RUN      \] (\S+)$", log.read_text(errors="replace"), flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def run(program, names, limit, folder):
    """Runs the cases. Returns their results, {name: (status, seconds, output)}, which lack those
    behind a case that ended the process."""
    report, log = folder / "report.json", folder / "log"
    report.unlink(missing_ok=True)
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*program, "--gtest_color=no", f"--gtest_output=json:{report}",
             "--gtest_filter=" + ":".join(names)],
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True)
        count, end = -1, ""
        while not end:
            try:
                code = process.wait(limit)
                end = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
            except subprocess.TimeoutExpired:
                now = len(started(log))
                if now == count:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
                    end = f"takes longer than {limit} s"
                count = now
    begun = started(log)
    outputs = dict(begun)
    results = {}
    try:
        suites = json.loads(report.read_text())["testsuites"]
    except (OSError, ValueError):  # the program writes its report last
        suites = []
        for name, output in begun:
            match = re.search(r"^\[ +(OK|FAILED|SKIPPED) +\] .*\((\d+) ms\)$", output, re.M)
            word, milliseconds = match.groups() if match else ("FAILED", 0)
            results[name] = ({"OK": "passed", "SKIPPED": "skipped"}.get(word, "failed"),
                             int(milliseconds) / 1000, output if match else f"{output}\n{end}")
    for suite in suites:
        for case in suite["testsuite"]:
            name = f"{suite['name']}.{case['name']}"
            status = ("failed" if case.get("failures") else
                      "skipped" if case.get("result") == "SKIPPED" else "passed")
            results[name] = (status, float(case["time"].rstrip("s")), outputs.get(name, ""))
    if end != "exit code 0" and all(status != "failed" for status, _, _ in results.values()):
        # It failed outside the cases.
        blamed = begun[-1][0] if begun else names[0]
        results[blamed] = ("failed", 0.0, f"{log.read_text(errors='replace')[-10000:]}\n{end}")
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", required=True)
    parser.add_argument("--part", required=True)
    parser.add_argument("--record", required=True, type=Path)
    parser.add_argument("--limit", type=float, default=300)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    part, parts = map(int, given.part.split("/"))
    wanted = re.compile(os.environ.get("HALYARD_CASES", ""))
    unwanted = os.environ.get("HALYARD_CASES_NOT")
    names = [name for name in cases_of(given.program)
             if wanted.search(f"{given.name}.{name}")
             and not (unwanted and re.search(unwanted, f"{given.name}.{name}"))][part - 1::parts]
    results = {name: ("disabled", 0.0, "") for name in names if is_disabled(name)}
    with tempfile.TemporaryDirectory() as folder:
        while todo := [name for name in names if name not in results]:
            results.update(run(given.program, todo[:1] if given.each else todo, given.limit,
                               Path(folder)))
    given.record.parent.mkdir(parents=True, exist_ok=True)
    given.record.write_text("".join(f"{status} {seconds:.3f} {given.name}.{name}\n"
                                    for name, (status, seconds, _) in results.items()))
    failed = [(name, output) for name, (status, _, output) in results.items()
              if status == "failed"]
    for name, output in failed:
        print(f"--- {given.name}.{name}\n{output.strip()}")
    print(f"{given.name}, part {given.part}: {len(results) - len(failed)} of {len(results)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
