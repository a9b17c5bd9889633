# SPDX-License-Identifier: Apache-2.0
"""What names say: extensions of outputs, names of classes, levels of the log."""
import os
import unittest

from program import CLIP, MODEL, IMAGE, ProgramTest, needs_engine, npy


class Extensions(ProgramTest):
    def test_those_that_are_not_served_are_refused_before_the_model_loads(self):
        for name, extension in {"x.gif": ".gif", "x.webm": ".webm", "run.2024": ".2024",
                                "X.HEIC": ".heic"}.items():
            with self.subTest(name):
                path = self.dir / name
                text = self.fail_with(2, "run", "-m", self.dir / "no.onnx", IMAGE, "--out", path,
                                      says=f"--out {path}: cannot write {extension}; ")
                self.assertIn("images: .jpg .jpeg .png", text)
                self.assertIn(f"a folder of this name is {path}/", text)
        text = self.fail_with(2, "run", "-m", self.dir / "no.onnx", IMAGE, "--contact-sheet",
                              self.dir / "x.gif", says="--contact-sheet")
        self.assertIn("cannot write .gif; images: .jpg .jpeg .png", text)
        self.fail_with(2, "run", "-m", self.dir / "no.onnx", IMAGE, "--out", "-", says="--out -")
        text = self.fail_with(2, "convert", IMAGE, self.dir / "x.gif", says=".jpg .jpeg .png ")
        self.assertIn(" .npy", text)
        self.assert_only()

    def test_the_help_promises_what_is_served(self):
        text = " ".join(self.succeed("run", "--help").split())
        self.assertNotIn("webm", text)
        self.assertRegex(text, r"an image \(.jpg .jpeg .png[a-z .]*\), a video \(")

    @needs_engine
    def test_folders_may_have_any_name(self):
        (self.dir / "is.there").mkdir()
        for name in ("is.there", "new.2024/", "plain"):
            with self.subTest(name):
                self.succeed("run", "-m", MODEL, IMAGE, "-q", "--out", f"{self.dir}/{name}")
                self.assertTrue((self.dir / name / IMAGE.name).is_file())


class Labels(ProgramTest):
    def names(self, count):
        path = self.write("names.txt", "".join(f"name {i}\n" for i in range(count)))
        return path

    @needs_engine
    def test_there_must_be_as_many_as_the_model_has_classes(self):
        for count in (80, 2):
            self.fail_with(1, "run", "-m", MODEL, IMAGE, "--labels", self.names(count),
                           says=f"--labels: {count} names, the model has 3 classes")
        self.assertIn("name 0", self.succeed("run", "-m", MODEL, CLIP, "--labels", self.names(3)))

    def test_of_recorded_outputs_too(self):
        self.write("o.npy", npy("<f4", (1, 6, 400), bytes(4 * 6 * 400)))
        line = ("decode", self.dir / "o.npy", "--input-size", "64x64", "--labels")
        self.fail_with(1, *line, self.names(3), says="--labels: 3 names, the model has 2 classes")
        self.succeed(*line, self.names(2))


class Log(ProgramTest):
    def info(self, level):
        return self.run_program("info", IMAGE, env={**os.environ, "HALYARD_LOG": level})

    def test_a_level_that_is_none_is_told_once(self):
        done = self.info("nonsense")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.decode(),
                         "halyard: error base: HALYARD_LOG must be off, error, warn, info, debug "
                         "or trace: nonsense, warn is used\n")
        self.assertEqual(self.info("warn").stderr, b"")

    def test_trace_shows_what_the_library_does(self):
        done = self.info("Trace")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr.decode(),
                         r"(?m)^halyard: trace codec: codec\.peek \d+\.\d{3} ms$")
        self.assertEqual(done.stdout, self.info("off").stdout)


if __name__ == "__main__":
    unittest.main()
