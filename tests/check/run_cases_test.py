# SPDX-License-Identifier: Apache-2.0
"""What scripts/run-cases.py and run-tests.py count, with a program that behaves like a GoogleTest
program: each case does what its name says.

    run_cases_test.py REPOSITORY
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# Those of a run that has chosen this test.
for name in ("HALYARD_CASES", "HALYARD_CASES_NOT"):
    os.environ.pop(name, None)
REPOSITORY = Path(sys.argv.pop(1) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
PROGRAM = '''#!/usr/bin/env python3
import json, os, sys, time
cases = %r
if "--gtest_list_tests" in sys.argv:
    print("Running main()\\nSuite.  # TypeParam = int")
    print("".join(f"  {case}  # GetParam() = 1\\n" for case in cases), end="")
    sys.exit()
given = dict(word[2:].split("=", 1) for word in sys.argv[1:])
folder = os.path.dirname(os.path.abspath(__file__))
open(f"{folder}/started{sum(name.startswith('started') for name in os.listdir(folder))}", "w")
report = []
for name in given["gtest_filter"].split(":"):
    case = name.split(".")[1]
    print(f"[ RUN      ] {name}\\noutput of {case}", flush=True)
    if case.startswith("crash"):
        os.abort()
    if case.startswith("hang"):
        time.sleep(1e4)
    word = "FAILED  " if case.startswith("fail") else "SKIPPED " if case == "skip" else "     OK "
    print(f"[ {word}] {name} (5 ms)", flush=True)
    entry = {"name": case, "status": "RUN", "time": "0.005s",
             "result": "SKIPPED" if case == "skip" else "COMPLETED"}
    if case.startswith("fail"):
        entry["failures"] = [{"failure": "wrong"}]
    report.append(entry)
if any(case == "abort_at_exit" for case in cases):
    os.abort()
with open(given["gtest_output"][5:], "w") as out:
    json.dump({"testsuites": [{"name": "Suite", "testsuite": report}]}, out)
sys.exit(1 if any("failures" in entry for entry in report) else 0)
'''


class Cases(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def run_part(self, cases, part="1/1", *options, **environment):
        """The exit code, what is recorded as {case: status}, and what is printed."""
        program, record = self.folder / "program", self.folder / "records/one"
        program.write_text(PROGRAM % (cases,))
        program.chmod(0o755)
        done = subprocess.run(
            [REPOSITORY / "scripts/run-cases.py", "--name", "layer", "--part", part, "--record",
             record, "--limit", "0.5", *options, "--", program],
            text=True, capture_output=True, check=False, env={**os.environ, **environment})
        lines = [line.split(" ") for line in record.read_text().splitlines()]
        return done.returncode, {name[12:]: status for status, _, name in lines}, done.stdout

    def test_each_status(self):
        code, seen, text = self.run_part(["pass", "skip", "DISABLED_fail", "fail"])
        self.assertEqual(seen, {"pass": "passed", "skip": "skipped", "fail": "failed",
                                "DISABLED_fail": "disabled"})
        self.assertEqual(code, 1)
        self.assertIn("output of fail", text)
        self.assertNotIn("output of pass", text)

    def test_success_prints_no_output_of_cases(self):
        code, seen, text = self.run_part(["a", "b"])
        self.assertEqual((code, seen), (0, {"a": "passed", "b": "passed"}))
        self.assertEqual(text, "layer, part 1/1: 2 of 2\n")

    def test_cases_behind_one_that_ends_the_process_run_too(self):
        code, seen, text = self.run_part(["a", "crash", "b", "fail", "crash2", "c"])
        self.assertEqual(seen, {"a": "passed", "crash": "failed", "b": "passed", "fail": "failed",
                                "crash2": "failed", "c": "passed"})
        self.assertEqual(code, 1)
        self.assertIn("output of crash\n\nended by signal 6", text)

    def test_a_case_that_does_not_end_fails_and_others_run(self):
        code, seen, text = self.run_part(["hang", "b"])
        self.assertEqual((code, seen), (1, {"hang": "failed", "b": "passed"}))
        self.assertIn("takes longer than 0.5 s", text)

    def test_a_program_that_fails_behind_its_cases(self):
        code, seen, _ = self.run_part(["a", "abort_at_exit"])
        self.assertEqual((code, seen["abort_at_exit"]), (1, "failed"))

    def test_a_process_for_each_case(self):
        code, seen, _ = self.run_part(["a", "fail", "crash", "b"], "1/1", "--each")
        self.assertEqual((code, seen), (1, {"a": "passed", "fail": "failed", "crash": "failed",
                                            "b": "passed"}))
        self.assertEqual(sorted(self.folder.glob("started*")), [
            self.folder / f"started{i}" for i in range(4)])

    def test_parts_share_the_cases(self):
        cases = [f"case{i}" for i in range(7)]
        seen = [self.run_part(cases, f"{part}/3")[1] for part in (1, 2, 3)]
        self.assertEqual(sorted(name for part in seen for name in part), cases)

    def test_expressions_choose_cases_by_their_whole_names(self):
        cases = ["one", "two", "twofold"]
        self.assertEqual(self.run_part(cases, HALYARD_CASES=r"^layer\.Suite\.two")[1].keys(),
                         {"two", "twofold"})
        self.assertEqual(self.run_part(cases, HALYARD_CASES_NOT="two$|three")[1].keys(),
                         {"one", "twofold"})
        self.assertEqual(self.run_part(cases, HALYARD_CASES="none")[:2], (0, {}))


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        program = self.build / "program"
        program.write_text(PROGRAM % (["good", "skip", "fail_here"],))
        program.chmod(0o755)
        part = (f'{REPOSITORY}/scripts/run-cases.py --name layer --part 1/1 --record '
                f'{self.build}/tests/cases/layer.part_1 -- {program}').split()
        entries = {"layer.part_1": part, "other.true": ["true"],
                   "other.skip": ["sh", "-c", "exit 77"],
                   "other.false": ["sh", "-c", "echo the reason; exit 1"],
                   "other.missing": [f"{self.build}/nowhere"]}
        (self.build / "CTestTestfile.cmake").write_text("".join(
            f"add_test({name} {' '.join(f'[==[{word}]==]' for word in command)})\n"
            f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)\n"
            for name, command in entries.items()))

    def run_tests(self, *arguments):
        done = subprocess.run([REPOSITORY / "scripts/run-tests.py", self.build, *arguments],
                              text=True, capture_output=True, check=False)
        return done.returncode, done.stdout.splitlines()

    def test_counts_cases_and_entries(self):
        code, lines = self.run_tests()
        self.assertEqual(code, 1)
        self.assertEqual(lines[-1], "57% tests passed, 3 tests failed out of 7")
        self.assertIn("  layer             3", lines)
        self.assertIn("  other             4", lines)
        self.assertIn("Skipped: 2; disabled: 0", lines)
        self.assertIn("Failed: layer.Suite.fail_here", lines)
        self.assertIn("the reason", lines[lines.index("Failed: other.false"):])
        self.assertIn("Failed: other.missing", lines)

    def test_chooses_cases_and_entries_by_name(self):
        code, lines = self.run_tests("-R", "good|true")
        self.assertEqual((code, lines[-1]), (0, "100% tests passed, 0 tests failed out of 2"))
        code, lines = self.run_tests("-E", "fail|false|missing")
        self.assertEqual((code, lines[-1]), (0, "100% tests passed, 0 tests failed out of 4"))

    def test_no_such_test_is_an_error(self):
        code, lines = self.run_tests("-R", "nothing_has_this_name")
        self.assertEqual(code, 1)
        self.assertIn("run-tests: no test has such a name", lines)


if __name__ == "__main__":
    unittest.main()
