# SPDX-License-Identifier: Apache-2.0
"""The shell lines of the README and of the first pages, as they are pasted after `make demo`."""
import os
import pathlib
import re
import shlex
import subprocess
import unittest

from program import ProgramTest, needs_engine

ROOT = pathlib.Path(os.environ["HALYARD_SOURCE_DIR"])
PROGRAM = pathlib.Path(os.environ["HALYARD_PROGRAM"])
PAGES = ["README.md", *sorted(f"docs/start/{page.name}"
                              for page in (ROOT / "docs/start").glob("*.md"))]
# Lines that build, install or need an installed library: tests/package, CI and the wheel's own
# tests run these.
BUILDS = re.compile(r"(make( |$)|scripts/install-deps\.sh |pip install |c\+\+ |cmake )")
# Lines that end with Ctrl-C.
ENDLESS = re.compile(r"halyard top$")

OUTPUTS = ("--out", "--json", "--trace", "--contact-sheet")


def lines_of(page):
    """The shell lines of a page without their comments; a backslash continues a line."""
    text = (ROOT / page).read_text()
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M):
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            if line:
                yield line


@needs_engine
class CommandsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.dir / "examples").symlink_to(ROOT / "examples")
        (self.dir / "build").mkdir()
        (self.dir / "build/halyard").symlink_to(PROGRAM)

    def run_line(self, line):
        """In a shell of its own that begins where `make demo` has left the user."""
        if ENDLESS.search(line):
            # In a terminal, left by Ctrl-C; timeout(1) says 124 where it had to be.
            line = (f"script -qec 'timeout --signal INT 1 {line} --interval 0.2' /dev/null ||"
                    " test $? = 124")
        line = line.replace("--seconds 1", "--seconds 0.1")  # of each engine, twice
        environment = dict(os.environ, PATH=f"{self.dir}/build:{os.environ['PATH']}",
                           HALYARD_NAMESPACE=f"commands{os.getpid()}")
        return subprocess.run(["bash", "-euo", "pipefail", "-c", line], cwd=self.dir,
                              env=environment, capture_output=True, text=True, timeout=280,
                              stdin=subprocess.DEVNULL)

    def test_lines_run_as_pasted_and_leave_what_they_promise(self):
        for page in PAGES:
            for line in lines_of(page):
                with self.subTest(page=page, line=line):
                    if BUILDS.match(line):
                        continue
                    words = shlex.split(line)
                    self.assertIn(words[0], ("halyard", "export", "source"), "an unknown command")
                    done = self.run_line(line)
                    self.assertEqual(done.returncode, 0, done.stderr[-2000:])
                    for option, value in zip(words, words[1:]):
                        if option in OUTPUTS and value != "-":
                            self.assertTrue((self.dir / value).exists(), value)

    def test_the_readme_shows_each_command_that_a_newcomer_needs(self):
        shown = {shlex.split(line)[1] for line in lines_of("README.md")
                 if line.startswith("halyard")}
        self.assertLessEqual({"run", "convert", "track", "val", "info", "doctor", "topic", "top"},
                             shown)


if __name__ == "__main__":
    unittest.main()
