# SPDX-License-Identifier: Apache-2.0
"""Names and labels from outside reach no terminal as escape sequences, and forge no lines."""
import json
import os
import shutil
import struct
import unicodedata
import unittest

from program import MODEL, IMAGE, ProgramTest, needs_engine, npy

# A title, an end of line with a forged line, C1, a turn of the direction, a byte that is no UTF-8.
NASTY = "a\x1b]0;pwned\x07\nhalyard: forged\x7f\x9b2J\u202egpj.\u2028\udcff"
SHOWN = ("a\\x1b]0;pwned\\x07\\x0ahalyard: forged\\u007f\\u009b2J\\u202egpj.\\u2028\\xff")
LABEL = "boat\x1b[31m\x9b2J\u202e"
LABEL_SHOWN = "boat\\x1b[31m\\u009b2J\\u202e"


class PrintingTest(ProgramTest):
    def plain(self, output):
        """Text in which nothing but line feeds is a control."""
        text = output.decode("utf-8")
        for char in text.replace("\n", ""):
            self.assertNotIn(unicodedata.category(char), ("Cc", "Cf", "Zl", "Zp"), text)
        return text

    def show(self, code, *args):
        done = self.run_program(*args)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertFalse(any(line.startswith(b"halyard: forged")
                             for line in (done.stdout + done.stderr).splitlines()))
        return self.plain(done.stdout) + self.plain(done.stderr)

    def image(self, name=NASTY + ".jpg"):
        path = f"{self.dir}/{name}"
        shutil.copy(IMAGE, path)
        return path


class Names(PrintingTest):
    def test_info_shows_them_escaped(self):
        self.assertIn(SHOWN, self.show(0, "info", self.image()))
        found = json.loads(self.show(0, "info", "--json", self.image("\x9b\u202e.jpg")))
        self.assertTrue(found["files"][0]["file"].endswith("\x9b\u202e.jpg"))

    def test_errors_show_them_escaped(self):
        name = f"{self.dir}/{NASTY}"
        for line in (("info", name), ("convert", name, self.dir / "o.png"), ("decode", name),
                     ("track", "--mot", name), ("val", "--gt", name, "--detections", name),
                     ("convert", IMAGE, f"{name}/o.png"),
                     ("run", "-m", name, IMAGE)):
            with self.subTest(line[0]):
                text = self.show(1, *line)
                self.assertIn(SHOWN, text)
                self.assertEqual(len(text.splitlines()), 1)

    def test_wrong_command_lines_show_them_escaped(self):
        for line in ((NASTY,), ("run", "-m", "m", "x", "--" + NASTY),
                     ("info", IMAGE, "--" + NASTY),
                     ("convert", "a", "b.png", "--size", NASTY),
                     ("track", "--mot", "x", "--tracker", NASTY),
                     ("convert", self.image(), self.image())):
            with self.subTest(line[0]):
                text = self.show(2, *line)
                self.assertIn("pwned", text)
                self.assertEqual(len(text.splitlines()), 1)

    def test_decode_and_tiles_show_them_escaped(self):
        values = self.write("x.npy", npy("<f4", (1, 6, 1), struct.pack("<6f", 32, 32, 16, 8, 0.1,
                                                                       0.75)))
        named = f"{self.dir}/{NASTY}.npy"
        os.rename(values, named)
        labels = self.write("labels.txt", "x\n" + LABEL + "\n")
        text = self.show(0, "decode", named, "--input-size", "64x64", "--labels", labels)
        self.assertIn(SHOWN, text)
        self.assertEqual(text.count(LABEL_SHOWN), 2)
        self.assertEqual(len(text.splitlines()), 2)
        found = json.loads(self.show(0, "decode", named, "--input-size", "64x64", "--labels",
                                     labels, "--json", "-"))
        self.assertEqual(found["frames"][0]["detections"][0]["label"], LABEL)
        text = self.show(0, "convert", IMAGE, f"{self.dir}/{NASTY}.png", "--tiles", "512x512")
        self.assertEqual(text.count(SHOWN), len(text.splitlines()))

    def test_categories_are_shown_escaped(self):
        truth, found = self.dir / "g.json", self.dir / "d.json"
        truth.write_text(json.dumps({"images": [{"id": 1}], "annotations": [],
                                     "categories": [{"id": 1, "name": LABEL + "\n"}]}))
        found.write_text("[]")
        line = ("val", "--gt", truth, "--detections", found)
        self.assertIn(LABEL_SHOWN, self.show(0, *line, "--by-class"))
        shown = json.loads(self.show(0, *line, "--json", "-"))
        self.assertEqual(shown["categories"][0]["name"], LABEL + "\n")

    def test_lines_of_bad_files_are_quoted_escaped(self):
        bad = self.write("bad.txt", NASTY.split("\n")[0].encode() + b"\xff\n")
        self.assertIn("\\x1b]0;pwned\\x07", self.show(1, "track", "--mot", bad))
        bad.write_text('{"images": \x9b\x1b[2J}')
        self.show(1, "val", "--gt", bad, "--detections", bad)
        config = self.dir / "c.yaml"
        for text in ("outputs: [\x9b", "decoder_version: \"\\e[2J\\u009b\\u202e\"\n"):
            config.write_text(text)
            self.show(1, "decode", self.npy_file(), "--config", config)

    def npy_file(self):
        path = self.write("plain.npy", npy("<f4", (1, 6, 1), bytes(24)))
        return path


@needs_engine
class Run(PrintingTest):
    def test_summaries_and_labels_are_shown_escaped(self):
        labels = self.write("labels.txt", "\n".join([LABEL] * 3))
        text = self.show(0, "run", "-m", MODEL, self.image(), "--labels", labels)
        self.assertIn(SHOWN + ".jpg: ", text)
        self.assertIn("  " + LABEL_SHOWN, text)
        found = json.loads(self.show(0, "run", "-m", MODEL, self.image(), "--labels", labels,
                                     "--json", "-"))
        self.assertEqual(found["frames"][0]["detections"][0]["label"], LABEL)


if __name__ == "__main__":
    unittest.main()
