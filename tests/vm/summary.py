#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what the boots of tests/vm/run.sh left behind. Prints what the kernel complained about,
the disabled and the skipped tests, the failed ones with their output, and as the last line
`N passed, N failed, N skipped`. Exits with 0 when all passed and none was skipped. What did not
report counts as failed: a machine that died, a device that is not there, a program without results,
without tests, or that ended badly after its tests.

    summary.py BOOT_FOLDER...
"""
import json
import re
import sys
from pathlib import Path

OUTPUT_LINES = 60  # of a failed test or program, at most


class Boot:
    """The counts of one boot, and (name, output) of what was skipped or failed."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.passed, self.failed, self.skipped, self.disabled = 0, [], [], []
        self.died = self.text("died").strip()
        self.sections = self.split_output()
        self.complaints = [self.name(line) for line in self.text("console").splitlines()
                           if re.search(r"\b(WARNING|BUG|Oops|UBSAN)\b.*:", line)]
        for node in self.text("missing").split():
            self.fail(node, "is not in the machine")
        suites = self.text("suites").split()
        for suite in suites:
            self.read(suite)
        if not suites:
            self.fail("no suite", "nothing was to be run")
        elif self.died and all(self.text(suite + ".rc") for suite in suites):
            self.fail("machine", f"died, {self.died}")

    def text(self, name):
        path = self.folder / name
        return path.read_text("utf-8", "replace") if path.is_file() else ""

    def split_output(self):
        """Suite -> the lines that it printed."""
        sections, name = {}, ""
        for line in self.text("output").splitlines():
            head = re.fullmatch(r"== (\w+)", line)
            if head:
                name = head.group(1)
            sections.setdefault(name, []).append(line)
        return sections

    def name(self, what):
        return f"{self.folder.name}: {what}"

    def fail(self, what, why, output=()):
        self.failed.append((f"{self.name(what)}: {why}", list(output)[-OUTPUT_LINES:]))

    def read(self, suite):
        """Counts one program's results."""
        lines = self.sections.get(suite, [])
        code = self.text(suite + ".rc").strip()
        if not code:
            why = f"the machine died, {self.died}" if self.died else "never ran"
            self.fail(suite, f"{why}{self.last_test(lines)}", lines)
            return
        try:
            cases = json.loads(self.text(suite + ".json"))["testsuites"]
        except (ValueError, KeyError):
            self.fail(suite, f"no results, exit {code}{self.last_test(lines)}", lines)
            return
        failed_before, count = len(self.failed), 0
        for case in cases:
            for test in case["testsuite"]:
                count += 1
                self.count(suite, f"{case['name']}.{test['name']}", test, lines)
        if count == 0:
            self.fail(suite, "has no tests", lines)
        if code != "0" and len(self.failed) == failed_before:
            self.fail(suite, f"exit {code} although no test failed", lines)

    def count(self, suite, name, test, lines):
        if test.get("failures"):
            self.fail(f"{suite}.{name}", "failed", self.output_of(name, lines, test))
        elif test.get("status") == "NOTRUN" and re.search(r"\bDISABLED_", name):
            self.disabled.append((self.name(f"{suite}.{name}"), []))
        elif test.get("result") == "COMPLETED" and test.get("status") == "RUN":
            self.passed += 1
        else:
            self.skipped.append((self.name(f"{suite}.{name}"), self.output_of(name, lines, test)))

    @staticmethod
    def last_test(lines):
        """The test that was running when the output stops."""
        for line in reversed(lines):
            match = re.match(r"\[ (RUN     |      OK|  FAILED|  SKIPPED) +\] (\S+)", line)
            if match:
                return f", in {match.group(2)}" if match.group(1).startswith("RUN") else ""
        return ""

    @staticmethod
    def output_of(name, lines, test):
        """What the program printed during the test, or else the messages of the failures."""
        begin = f"[ RUN      ] {name}"
        if begin in lines:
            rest = lines[lines.index(begin) + 1:]
            ends = [i for i, line in enumerate(rest)
                    if re.match(r"\[ +(FAILED|SKIPPED) +\] ", line)]
            if ends and ends[0] > 0:
                return rest[:ends[0]]
        return [line for failure in test.get("failures", [])
                for line in failure["failure"].splitlines()]


def show(title, entries):
    if entries:
        print(f"{title}:")
    for name, output in entries:
        print(f"  {name}")
        for line in output:
            print(f"    | {line}")


def main(folders):
    boots = [Boot(folder) for folder in folders]
    passed = sum(boot.passed for boot in boots)
    failed = [entry for boot in boots for entry in boot.failed]
    skipped = [entry for boot in boots for entry in boot.skipped]
    if not boots:
        failed.append(("no boot", []))
    show("The kernel complained", [(line, []) for boot in boots for line in boot.complaints])
    show("Disabled, not counted", [entry for boot in boots for entry in boot.disabled])
    show("Skipped", skipped)
    show("Failed", failed)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 0 if passed and not failed and not skipped else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
