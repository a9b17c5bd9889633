# SPDX-License-Identifier: Apache-2.0
"""Words that are nearly right, --version, completion of shells, and manual pages."""
import json
import os
import re
import shutil
import subprocess
import unittest

from program import CLIP, MODEL, ProgramTest, needs_engine, npy
from val_test import harbour_truth

COMMANDS = ("run", "serve", "decode", "track", "convert", "val", "bench", "info", "doctor",
            "pool", "topic", "top", "negotiate", "completion", "man")


class DidYouMean(ProgramTest):
    def test_commands_options_and_values_are_named(self):
        values = self.write("x.npy", npy("<f4", (1, 6, 1), bytes(24)))
        for line, says in (
                (("rum",), "rum: no such command; did you mean run? (see halyard --help)"),
                (("dectect",), "no such command (see"),
                (("docter",), "did you mean doctor?"),
                (("run", "-m", "m", "x", "--scor", "1"), "did you mean --score? (see halyard run"),
                (("run", "-m", "m", "x", "--modle=x"), "; did you mean --model?"),
                (("run", "-m", "m", "x", "--zzzzzz"), "--zzzzzz (see halyard run --help)"),
                (("topic", "ecko", "x"), "did you mean echo?"),
                (("run", "-m", "m", "x", "--preset", "ultralytic"), "; did you mean ultralytics?"),
                (("val", "--gt", "x", "--mask-rule", "logit"), "did you mean logits?"),
                (("convert", "a", "b.png", "--fit", "leterbox"), "did you mean letterbox?"),
                (("convert", "a", "b.png", "--flip", "horizontla"), "did you mean horizontal?"),
                (("convert", "a", "b.png", "--format", "planar_rbg"), "mean planar_rgb?"),
                (("convert", "a", "b.png", "--rotate", "80"), "'80' is not 0, 90, 180 or 270"),
                (("run", "-m", "m", "x", "--on-overload", "dorp"), "did you mean drop?"),
                (("track", "--mot", "x", "--tracker", "bytetrak"), "did you mean bytetrack?"),
                (("decode", values, "--box-units", "pixel"), "did you mean pixels?"),
                (("man", "rnu"), "did you mean run?"),
                (("completion", "bahs"), "did you mean bash?")):
            with self.subTest(line):
                self.fail_with(2, *line, says=says)

    def test_what_is_not_near_names_nothing(self):
        self.assertNotIn("did you mean", self.fail_with(2, "xyzzy"))
        text = self.fail_with(2, "convert", "a", "b.png", "--fit", "banana")
        self.assertIn("'banana' is not stretch, letterbox, cover or top-left", text)
        self.assertNotIn("did you mean", text)


    @needs_engine
    def test_classes_that_are_nearly_categories_are_named(self):
        truth = harbour_truth(1)
        truth["annotations"], truth["categories"] = [], [{"id": 1, "name": "Boats"}]
        self.write("t.json", truth)
        self.fail_with(1, "run", "-q", "-m", MODEL, CLIP, "--coco", self.dir / "c.json",
                       "--coco-gt", self.dir / "t.json",
                       says="3 labels, 1 categories; label boat: did you mean Boats?")


class Version(ProgramTest):
    def test_every_command_takes_it(self):
        wanted = self.succeed("--version")
        self.assertRegex(wanted, r"^halyard \d+\.\d+\.\d+\n$")
        for command in COMMANDS:
            self.assertEqual(self.succeed(command, "--version"), wanted)
        self.assertEqual(self.succeed("topic", "echo", "--version"), wanted)


class Completion(ProgramTest):
    def complete(self, *words):
        """What bash would offer for the last word."""
        script = self.write("halyard.bash", self.succeed("completion", "bash"))
        line = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _halyard; ' \
               'printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", line, "bash", script, "halyard", *words],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes_commands_options_and_values(self):
        self.assertLessEqual(set(COMMANDS), set(self.complete("")))
        self.assertEqual(self.complete("ru"), ["run"])
        self.assertIn("--preset", self.complete("run", "--p"))
        self.assertEqual(self.complete("run", "photo.jpg", "--coco"), ["--coco", "--coco-gt"])
        self.assertEqual(self.complete("run", "--preset", ""),
                         ["ultralytics-val", "ultralytics", "hal"])
        self.assertEqual(self.complete("track", "--tracker", "by"),
                         ["bytetrack", "bytetrack-paper"])
        self.assertEqual(self.complete("convert", "a", "b", "--rotate", ""),
                         ["0", "90", "180", "270"])
        self.assertIn("planar_rgb", self.complete("convert", "a", "b", "--format", "pl"))
        self.assertEqual(self.complete("topic", "ec"), ["echo"])
        self.assertEqual(self.complete("topic", "echo", "--cou"), ["--count"])
        self.assertEqual(self.complete("completion", "--in"), ["--into"])
        # A value that is a file is left to bash.
        self.assertEqual(self.complete("run", "--model", "x"), [])
        self.assertEqual(self.complete("run", "photo.j"), [])

    def test_all_options_of_the_help_are_there(self):
        for command in COMMANDS:
            wanted = set(re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", self.succeed(command, "--help")))
            self.assertGreater(len(wanted), 0)
            self.assertLessEqual(wanted, set(self.complete(command, "--")), command)
            for shell in ("zsh", "fish"):
                text = self.succeed("completion", shell)
                for name in wanted:
                    self.assertIn(name if shell == "zsh" else f"-l {name[2:]}", text)

    def test_other_shells_take_their_scripts(self):
        for shell in ("zsh", "fish"):
            script = self.write(shell, self.succeed("completion", shell))
            with self.subTest(shell):
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not here")
                done = subprocess.run([shell, "-n", script], capture_output=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_all_are_written_for_an_installation(self):
        self.succeed("completion", "--into", self.dir)
        for name in ("bash-completion/completions/halyard", "zsh/site-functions/_halyard",
                     "fish/vendor_completions.d/halyard.fish"):
            self.assertGreater((self.dir / name).stat().st_size, 1000)
        self.fail_with(2, "completion", says="needs one of bash")


class Manual(ProgramTest):
    def pages(self):
        self.succeed("man", "--into", self.dir)
        return {path.name: path.read_text() for path in self.dir.iterdir()}

    def test_there_is_a_page_for_every_command(self):
        pages = self.pages()
        self.assertEqual(pages.keys(), {"halyard.1", *(f"halyard-{name}.1" for name in COMMANDS)})
        for name, text in pages.items():
            parts = re.findall(r"(?m)^\.SH (.+)$", text)
            self.assertEqual(parts[:2], ["NAME", "SYNOPSIS"], name)
            self.assertIn("OPTIONS", parts)
            self.assertEqual(parts[-1], "SEE ALSO")
            command = name[:-2].replace("halyard", "", 1).lstrip("-")
            if command:
                self.assertEqual(self.succeed("man", command), text)
                wanted = re.findall(r"(?m)^  (?:-\w,)?(--[\w-]+)", self.succeed(command, "--help"))
                for option in wanted:
                    self.assertIn("\\fB" + option.replace("-", "\\-") + "\\fR", text)
        self.assertEqual(self.succeed("man"), pages["halyard.1"])
        self.assertIn("Exit codes", pages["halyard.1"])

    def test_roff_has_nothing_against_them(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not here")
        for name in self.pages():
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", self.dir / name],
                                  capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""), name)
            self.assertGreater(len(done.stdout), 300)
        text = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", self.dir / "halyard-run.1"],
                              capture_output=True, text=True, timeout=60).stdout
        self.assertIn("--coco-gt VALUE", text)
        self.assertIn("halyard run --model boats.onnx rtsp://camera/live --track", text)


class Installed(ProgramTest):
    def test_pages_and_completions_are_installed_beside_the_program(self):
        build = os.environ.get("HALYARD_BUILD_DIR", "")
        if not os.path.exists(os.path.join(build, "share", "made")):
            self.skipTest("this build made no pages")
        subprocess.run(["cmake", "--install", build, "--prefix", self.dir, "--component", "tools"],
                       check=True, capture_output=True, timeout=60)
        for name in ("bin/halyard", "share/man/man1/halyard.1", "share/man/man1/halyard-run.1",
                     "share/bash-completion/completions/halyard",
                     "share/zsh/site-functions/_halyard",
                     "share/fish/vendor_completions.d/halyard.fish"):
            self.assertTrue((self.dir / name).is_file(), name)
        self.assertEqual((self.dir / "share/man/man1/halyard-run.1").read_text(),
                         self.succeed("man", "run"))


if __name__ == "__main__":
    unittest.main()
