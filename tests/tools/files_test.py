# SPDX-License-Identifier: Apache-2.0
"""halyard decode, info, doctor and the command line itself."""
import json
import math
import struct
import unittest

from program import MODEL, IMAGE, ProgramTest, npy


class CommandLine(ProgramTest):
    def test_help_and_version_succeed(self):
        self.assertIn("halyard 0.", self.succeed("--version"))
        for command in ((), ("run",), ("decode",), ("track",), ("convert",), ("info",),
                        ("doctor",)):
            self.assertIn("Examples", self.succeed(*command, "--help"))

    def test_wrong_lines_end_with_2(self):
        for line in ((), ("nosuch",), ("run",), ("run", "x.jpg"), ("convert", "a.jpg"),
                     ("run", "-m", "m", "x", "--score", "2"), ("run", "-m", "m", "x", "--nosuch"),
                     ("convert", "a", "b.png", "--size", "0x4"), ("convert", "a", "b.gif"),
                     ("convert", "a", "b.png", "--format", "nosuch"),
                     ("convert", "a.npy", "b.png"), ("convert", "a", "b.png", "--dtype", "f32"),
                     ("decode", "x.npy", "--quant", "0,1"), ("decode", "x.npy", "--quant", "1"),
                     ("decode", "x.npy", "--input-size", "640")):
            with self.subTest(line):
                self.fail_with(2, *line)

    def test_doctor_tells_of_every_part(self):
        found = self.succeed_json("doctor", "--json")["findings"]
        self.assertLessEqual({"buffer", "backend", "cpu", "engine", "video", "camera", "draw"},
                             {entry["group"] for entry in found})
        for entry in found:
            self.assertTrue(entry["works"] or entry["remark"], entry)
        works = {entry["name"]: entry["works"] for entry in found}
        self.assertTrue(works["mem"] and works["cpu"])
        self.assertIn("backend", self.succeed("doctor"))


class Decode(ProgramTest):
    def decode(self, content, *options):
        path = self.write("x.npy", content)
        return ("decode", path, *options)

    def test_a_box_comes_back_through_the_letterbox(self):
        # One anchor in the middle of a 64x64 input, 2 classes; the source is 32x16.
        values = struct.pack("<6f", 32, 32, 16, 8, 0.1, 0.75)
        line = self.decode(npy("<f4", (1, 6, 1), values), "--input-size", "64x64",
                           "--source-size", "32x16", "--json", "-")
        frame = self.succeed_json(*line)["frames"][0]
        self.assertEqual((frame["width"], frame["height"]), (32, 16))
        self.assertEqual(frame["detections"], [{"box": [12, 6, 20, 10], "score": 0.75, "class": 1,
                                                "label": "class 1", "track": None}])

    def test_nan_finds_nothing(self):
        values = struct.pack("<6f", *[float("nan")] * 6)
        line = self.decode(npy("<f4", (1, 6, 1), values), "--input-size", "64x64")
        self.assertIn("nothing", self.succeed(*line))

    def test_bad_arrays_give_one_line(self):
        good = npy("<f4", (1, 6, 1), bytes(24))
        bad = {"empty": b"", "magic": b"x" * 200, "cut": good[:60], "short": good[:-1],
               "long": good + b"x", "big-endian": npy(">f4", (1, 6, 1), bytes(24)),
               "object": npy("|O", (1, 6, 1), bytes(24)),
               "fortran": npy("<f4", (1, 6, 1), bytes(24), "True"),
               "zero": npy("<f4", (1, 0, 1), b""), "huge": npy("<f4", (2**63, 2**63), bytes(24)),
               "no-head": npy("<f4", (1, 2, 3, 4), bytes(96)),
               "version": good[:6] + b"\x09" + good[7:],
               "header": good[:8] + b"\xff\xff" + good[10:]}
        for name, content in bad.items():
            with self.subTest(name):
                self.fail_with(1, *self.decode(content, "--input-size", "64x64"), says="x.npy")
        self.fail_with(1, "decode", self.dir / "none.npy", says="none.npy")

    def test_a_model_describes_its_recorded_outputs(self):
        entry = self.succeed_json("info", "--json", MODEL)["files"][0]
        shape = tuple(entry["outputs"][0]["shape"])
        zeros = npy("<f4", shape, bytes(4 * math.prod(shape)))
        self.assertIn("nothing", self.succeed(*self.decode(zeros, "--config", MODEL)))
        self.fail_with(1, *self.decode(npy("<f4", (1, 6, 1), bytes(24)), "--config", MODEL))

    def test_integers_need_their_quantization(self):
        self.fail_with(2, *self.decode(npy("|i1", (1, 6, 1), bytes(6)), "--input-size", "64x64"),
                       says="--quant")


class Info(ProgramTest):
    def test_an_image_is_described(self):
        self.assertIn("native_format     nv12", self.succeed("info", IMAGE))
        entry = self.succeed_json("info", "--json", IMAGE)["files"][0]
        self.assertEqual((entry["width"], entry["height"]), (640, 360))

    def test_a_model_is_described_with_an_engine_or_without(self):
        entry = self.succeed_json("info", "--json", MODEL)["files"][0]
        self.assertEqual(entry["type"], "model")
        self.assertEqual(entry["description"]["labels"], ["boat", "buoy", "gull"])
        self.assertEqual(entry["outputs"][0]["dtype"], "f32")

    def test_bad_files_are_named(self):
        self.write("x.jpg", b"")
        self.fail_with(1, "info", self.dir / "x.jpg", says="x.jpg")
        self.fail_with(1, "info", self.dir / "none.jpg", says="none.jpg")


if __name__ == "__main__":
    unittest.main()
