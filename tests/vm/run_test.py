#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the machine in tests can fail: results of each bad kind for summary.py, kernels that
do not start or die for run.sh, and, where there is a machine, programs that crash, hang or take it
down. The programs are shell scripts that answer as a GoogleTest program does.

    run_test.py [unittest argument...]

Exits with 77 when all tests were skipped.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent

PROGRAM = """#!/bin/bash
for argument; do
  case $argument in
    --gtest_list_tests) printf 'Suite.\\n  one\\n  two\\n'; exit 0 ;;
    --gtest_output=json:*) out=${argument#--gtest_output=json:} ;;
  esac
done
results() { cat >"$out" <<'END'
RESULTS
END
}
BODY
"""


def case(name, result="COMPLETED", status="RUN", failures=()):
    test = {"name": name, "status": status, "result": result}
    if failures:
        test["failures"] = [{"failure": text, "type": ""} for text in failures]
    return test


def results(*cases):
    return json.dumps({"testsuites": [{"name": "Suite", "testsuite": list(cases)}]})


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def execute(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False,
                              env={**os.environ, **environment})
        self.said = done.stdout + done.stderr
        self.last = done.stdout.splitlines()[-1] if done.stdout else ""
        return done.returncode


class Summary(Folder):
    def boot(self, name="boot-1", **files):
        folder = self.folder / name
        folder.mkdir()
        content = {"suites": "one\n", "one_rc": "0\n", "one_json": results(case("a"), case("b"))}
        for key, text in {**content, **files}.items():
            if text is not None:
                (folder / key.replace("_", ".")).write_text(text)
        return folder

    def expect(self, code, last, *said, folders=None):
        folders = folders if folders is not None else [self.folder / "boot-1"]
        self.assertEqual(self.execute(HERE / "summary.py", *folders), code, self.said)
        self.assertEqual(self.last, last)
        for text in said:
            self.assertIn(text, self.said)

    def test_passes_when_all_passed(self):
        self.boot()
        self.expect(0, "2 passed, 0 failed, 0 skipped")

    def test_adds_up_programs_and_boots(self):
        first = self.boot(suites="one two", two_rc="0", two_json=results(case("c")))
        self.expect(0, "5 passed, 0 failed, 0 skipped", folders=[first, self.boot("boot-2")])

    def test_names_a_skipped_test_and_does_not_pass(self):
        self.boot(one_json=results(case("a"), case("b", "SKIPPED")))
        self.expect(1, "1 passed, 0 failed, 1 skipped", "boot-1: one.Suite.b")

    def test_names_a_disabled_test_beside_the_counts(self):
        self.boot(one_json=results(case("a"), case("DISABLED_b", "SUPPRESSED", "NOTRUN")))
        self.expect(0, "1 passed, 0 failed, 0 skipped", "boot-1: one.Suite.DISABLED_b")

    def test_counts_a_test_that_did_not_run_as_skipped(self):
        self.boot(one_json=results(case("a"), case("b", "SUPPRESSED", "NOTRUN")))
        self.expect(1, "1 passed, 0 failed, 1 skipped", "boot-1: one.Suite.b")

    def test_shows_the_output_of_a_failed_test(self):
        self.boot(one_json=results(case("a"), case("b", failures=["Expected 3"])), one_rc="1",
                  output="== one\n[ RUN      ] Suite.a\nquiet\n[       OK ] Suite.a (0 ms)\n"
                  "[ RUN      ] Suite.b\nExpected 3\nand more\n[  FAILED  ] Suite.b (1 ms)\n")
        self.expect(1, "1 passed, 1 failed, 0 skipped", "one.Suite.b: failed", "| and more")
        self.assertNotIn("quiet", self.said)

    def test_names_the_test_in_which_the_machine_died(self):
        self.boot(one_rc=None, one_json=None, died="exit 134: panic",
                  output="== one\n[ RUN      ] Suite.a\n")
        self.expect(1, "0 passed, 1 failed, 0 skipped", "exit 134: panic, in Suite.a")

    def test_fails_a_machine_that_dies_after_its_programs(self):
        self.boot(died="stopped after its time limit")
        self.expect(1, "2 passed, 1 failed, 0 skipped", "machine: died, stopped after")

    def test_fails_a_program_without_results(self):
        self.boot(one_json=None, one_rc="139")
        self.expect(1, "0 passed, 1 failed, 0 skipped", "no results, exit 139")

    def test_fails_a_program_with_half_a_result(self):
        self.boot(one_json=results(case("a"))[:-3])
        self.expect(1, "0 passed, 1 failed, 0 skipped", "no results, exit 0")

    def test_fails_a_program_without_tests(self):
        self.boot(one_json='{"testsuites": []}')
        self.expect(1, "0 passed, 1 failed, 0 skipped", "one: has no tests")

    def test_fails_a_program_that_ends_badly_after_its_tests(self):
        self.boot(one_rc="23")
        self.expect(1, "2 passed, 1 failed, 0 skipped", "exit 23 although no test failed")

    def test_fails_a_machine_without_a_device(self):
        self.boot(missing="/dev/udmabuf\n")
        self.expect(1, "2 passed, 1 failed, 0 skipped", "/dev/udmabuf: is not in the machine")

    def test_shows_what_the_kernel_complained_about(self):
        self.boot(console="[ 0.1] fine\n[ 0.2] WARNING: CPU: 0 at dma-buf.c:7\n")
        self.expect(0, "2 passed, 0 failed, 0 skipped", "boot-1: [ 0.2] WARNING: CPU: 0")
        self.assertNotIn("fine", self.said)

    def test_fails_when_nothing_ran(self):
        self.boot(suites="")
        self.expect(1, "0 passed, 1 failed, 0 skipped", "nothing was to be run")
        self.expect(1, "0 passed, 1 failed, 0 skipped", folders=[])


class Build(Folder):
    """A build folder in which one program is a script."""

    def program(self, body, text=results(case("one"), case("two"))):
        path = self.folder / "tests" / "halyard_test_fake"
        path.parent.mkdir(exist_ok=True)
        path.write_text(PROGRAM.replace("RESULTS", text).replace("BODY", body))
        path.chmod(0o755)

    def run_suite(self, *options, **environment):
        return self.execute(HERE / "run.sh", self.folder, "--suites", "fake", *options,
                            **environment)


class Run(Build):
    def kernel(self, script, levels=4):
        """Puts a script where the kernel would be."""
        cache = self.folder / "cache"
        self.execute(HERE / "kernel.sh", "--folder", HALYARD_VM_CACHE=str(cache))
        kernel = Path(self.last) / "linux"
        kernel.parent.mkdir(parents=True)
        kernel.write_text("#!/bin/sh\n" + script)
        kernel.chmod(0o755)
        (kernel.parent / "source").write_text("a script\n")
        (kernel.parent / "config").write_text(f"CONFIG_PGTABLE_LEVELS={levels}\n")
        return {"HALYARD_VM_CACHE": str(cache)}

    def test_is_skipped_by_name_without_a_kernel(self):
        self.program("results")
        code = self.run_suite(HALYARD_VM_CACHE="/proc/none")
        self.assertEqual(code, 77, self.said)
        self.assertRegex(self.said, r"(?m)^vm: skipped: the folder /proc/none cannot be made$")
        self.assertEqual(self.last, "0 passed, 0 failed, 2 skipped")

    def test_is_skipped_by_name_where_the_kernel_does_not_start(self):
        self.program("results")
        code = self.run_suite(**self.kernel("echo no ptrace here; exit 1\n"))
        self.assertEqual(code, 77, self.said)
        self.assertRegex(self.said, r"(?m)^vm: skipped: .*no ptrace here$")
        self.assertEqual(self.last, "0 passed, 0 failed, 2 skipped")

    def test_takes_the_older_way_where_seccomp_is_refused(self):
        self.program("results")
        self.run_suite(**self.kernel('case " $*" in *" seccomp=on"*) exit 1 ;; esac\n'
                                     'echo "Linux version of ptrace"; exit 9\n'))
        self.assertIn("exit 9: Linux version of ptrace", self.said)

    def test_skips_sanitizers_where_the_kernel_has_no_room_for_them(self):
        kernel = self.kernel("echo Linux version 1; exit 1\n", levels=3)
        self.program("results # __asan_init")
        self.assertEqual(self.run_suite(**kernel), 77, self.said)
        self.assertIn("vm: skipped: a script is too old for sanitizers", self.said)
        self.program("results")
        self.assertEqual(self.run_suite(**kernel), 1, self.said)

    def test_fails_when_the_kernel_starts_and_dies(self):
        self.program("results")
        code = self.run_suite(**self.kernel("echo Linux version 1; echo Kernel panic; exit 134\n"))
        self.assertEqual(code, 1, self.said)
        self.assertIn("fake: the machine died, exit 134: Kernel panic", self.said)
        self.assertEqual(self.last, "0 passed, 1 failed, 0 skipped")

    def test_fails_without_the_program(self):
        self.assertEqual(self.run_suite(), 1)
        self.assertIn("halyard_test_fake: build it first", self.said)


class Machine(Build):
    """With the real kernel, which must be there already."""

    def setUp(self):
        super().setUp()
        self.execute(HERE / "kernel.sh", "--folder")
        if not (Path(self.last) / "linux").exists():
            self.skipTest("no kernel here: tests/vm/kernel.sh")
        self.program("results")

    def run_suite(self, *options, **environment):
        code = super().run_suite(*options, **environment)
        if code == 77:
            self.skipTest(self.said)
        return code

    def test_passes_with_all_devices_and_says_how_fast_it_was_up(self):
        self.program("[[ $HALYARD_TEST_IN_VM == 1 ]] && results")
        code = self.run_suite("--then", "--suites", "fake", "--cpus", "2", "--mods", "none")
        self.assertEqual(code, 0, self.said)
        self.assertEqual(self.last, "4 passed, 0 failed, 0 skipped")
        self.assertEqual(len(re.findall(r"up in \d+\.\d+ s", self.said)), 2)

    def test_fails_a_program_that_crashes(self):
        self.program("echo '[ RUN      ] Suite.one'; kill -SEGV $$")
        self.assertEqual(self.run_suite(), 1)
        self.assertIn("fake: no results, exit 139, in Suite.one", self.said)

    def test_fails_a_program_that_hangs(self):
        self.program("results; exec sleep 1000")
        self.assertEqual(self.run_suite("--timeout", "1"), 1)
        self.assertIn("fake: exit 124 although no test failed", self.said)

    def test_fails_when_the_machine_goes_down_during_a_test(self):
        self.program("results; sync; echo '[ RUN      ] Suite.two'\n"
                     "python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'")
        self.assertEqual(self.run_suite(), 1)
        self.assertRegex(self.said, r"fake: the machine died, exit \d+.*, in Suite.two")
        self.assertEqual(self.last, "0 passed, 1 failed, 0 skipped")

    def test_ends_a_program_that_needs_more_mappings_than_the_host_allows(self):
        if int(Path("/proc/sys/vm/max_map_count").read_text()) > 100000:
            self.skipTest("the host allows very many")
        code = self.execute(HERE / "run.sh", self.folder, "--cmd", """python3 -c '
import mmap, random
memory = mmap.mmap(-1, 100000 * 4096)
for page in random.sample(range(100000), 100000):
    memory[page * 4096] = 1'""")
        self.assertEqual(code, 1, self.said)
        self.assertIn("vm.max_map_count", self.said)

    def test_hands_a_command_through(self):
        (self.folder / "left").write_text("seen in the machine")
        code = self.execute(HERE / "run.sh", self.folder, "--cmd",
                            f"cat {self.folder}/left; ls /dev/udmabuf; touch /new; exit 5")
        self.assertEqual(code, 5, self.said)
        self.assertIn("seen in the machine/dev/udmabuf", self.said)
        self.assertFalse(Path("/new").exists())

    def test_lets_only_the_groups_of_the_devices_in(self):
        code = self.execute(HERE / "run.sh", self.folder, "--cmd", "stat -c '%G %a' "
                            "/dev/dma_heap/system /dev/udmabuf /dev/video0 /dev/dri/renderD128")
        self.assertEqual(code, 0, self.said)
        self.assertIn("video 660\nkvm 660\nvideo 660\nrender 660\n", self.said)


if __name__ == "__main__":
    outcome = unittest.main(exit=False).result
    if outcome.testsRun and len(outcome.skipped) == outcome.testsRun:
        sys.exit(77)
    sys.exit(not outcome.wasSuccessful())
