# SPDX-License-Identifier: Apache-2.0
"""halyard decode, convert, info, doctor and the command line itself."""
import json
import struct
import unittest

from program import DATA, PICTURE, ProgramTest, needs_data


def npy(descr, shape, data, order="False"):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
    header = header.ljust(118 - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(path):
    raw = path.read_bytes()
    length = struct.unpack_from("<H", raw, 8)[0]
    return eval(raw[10:10 + length].decode()), raw[10 + length:]


class CommandLine(ProgramTest):
    def test_help_and_version_succeed(self):
        self.assertIn("halyard 0.", self.succeed("--version"))
        for command in ((), ("run",), ("decode",), ("convert",), ("info",), ("doctor",)):
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
        found = json.loads(self.succeed("doctor", "--json"))["findings"]
        self.assertLessEqual({"buffer", "backend", "cpu", "engine", "video", "draw"},
                             {entry["group"] for entry in found})
        for entry in found:
            self.assertTrue(entry["works"] or entry["remark"], entry)
        works = {entry["name"]: entry["works"] for entry in found}
        self.assertTrue(works["mem"] and works["cpu"])
        self.assertIn("backend", self.succeed("doctor"))


class Decode(ProgramTest):
    def decode(self, content, *options):
        path = self.dir / "x.npy"
        path.write_bytes(content)
        return ("decode", path, *options)

    def test_a_box_comes_back_through_the_letterbox(self):
        # One anchor in the middle of a 64x64 input, 2 classes; the source is 32x16.
        values = struct.pack("<6f", 32, 32, 16, 8, 0.1, 0.75)
        line = self.decode(npy("<f4", (1, 6, 1), values), "--input-size", "64x64",
                           "--source-size", "32x16", "--json", "-")
        frame = json.loads(self.succeed(*line))["frames"][0]
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

    def test_integers_need_their_quantization(self):
        self.fail_with(2, *self.decode(npy("|i1", (1, 6, 1), bytes(6)), "--input-size", "64x64"),
                       says="--quant")


class Convert(ProgramTest):
    def test_sizes_formats_and_dtypes(self):
        out = self.dir / "o.npy"
        cases = {("rgb", "u8"): ("|u1", (18, 33, 3)), ("planar_rgb", "f32"): ("<f4", (3, 18, 33)),
                 ("grey", "i8"): ("|i1", (18, 33, 1)), ("nv12", "u8"): ("|u1", (27, 34))}
        for (pixels, dtype), (descr, shape) in cases.items():
            with self.subTest(pixels):
                self.succeed("convert", PICTURE, out, "--size", "33x18", "--format", pixels,
                             "--dtype", dtype)
                header, data = read_npy(out)
                self.assertEqual((header["descr"], header["shape"]), (descr, shape))
                count = 1
                for extent in shape:
                    count *= extent
                self.assertEqual(len(data), count * int(descr[2]))

    def test_raw_samples_survive_a_round_trip(self):
        raw, again = self.dir / "a.raw", self.dir / "b.raw"
        samples = bytes((i * 7) % 251 for i in range(5 * 3 * 3))
        raw.write_bytes(samples)
        self.succeed("convert", raw, self.dir / "p.png", "--input-format", "rgb", "--input-size",
                     "5x3")
        self.succeed("convert", self.dir / "p.png", again, "--raw")
        self.assertEqual(again.read_bytes(), samples)

    def test_turns_compose_with_the_crop(self):
        raw, out = self.dir / "a.raw", self.dir / "b.raw"
        raw.write_bytes(bytes(range(12)))  # grey, 4 wide, 3 high
        common = ("convert", raw, out, "--raw", "--input-format", "grey", "--input-size", "4x3")
        self.succeed(*common, "--rotate", 90)
        self.assertEqual(list(out.read_bytes()), [8, 4, 0, 9, 5, 1, 10, 6, 2, 11, 7, 3])
        self.succeed(*common, "--flip", "horizontal", "--crop", "1,0,2,2")
        self.assertEqual(list(out.read_bytes()), [2, 1, 6, 5])
        self.fail_with(1, *common, "--crop", "3,0,2,2")
        self.fail_with(1, "convert", raw, out, "--raw", "--input-format", "grey", "--input-size",
                       "5x3", says="12 bytes")

    def test_bad_files_and_targets_give_one_line_and_no_file(self):
        (self.dir / "bad.jpg").write_bytes(PICTURE.read_bytes()[:3000])
        self.fail_with(1, "convert", self.dir / "bad.jpg", self.dir / "o.png", says="bad.jpg")
        self.fail_with(1, "convert", PICTURE, "/sys/o.png", says="/sys/o.png")
        self.fail_with(1, "convert", self.dir / "none.jpg", self.dir / "o.png", says="none.jpg")
        self.assert_only("bad.jpg")

    @needs_data
    def test_exif_turns_are_applied_or_left(self):
        for orientation in range(1, 9):
            out = self.dir / "o.npy"
            photo = f"{DATA}/photos/bus_320_exif_{orientation}.jpg"
            self.succeed("convert", photo, out)
            self.assertEqual(read_npy(out)[0]["shape"], (320, 240, 3))
            upright = read_npy(out)[1]
            if orientation == 1:
                first = upright
            mean = sum(abs(a - b) for a, b in zip(first[::17], upright[::17])) / len(first[::17])
            self.assertLess(mean, 2, orientation)
            self.succeed("convert", photo, out, "--no-orient")
            want = (320, 240, 3) if orientation < 5 else (240, 320, 3)
            self.assertEqual(read_npy(out)[0]["shape"], want)


class Info(ProgramTest):
    def test_a_picture_is_described(self):
        self.assertIn("native_format     nv12", self.succeed("info", PICTURE))
        entry = json.loads(self.succeed("info", "--json", PICTURE))["files"][0]
        self.assertEqual((entry["width"], entry["height"]), (640, 360))

    def test_bad_files_are_named(self):
        (self.dir / "x.jpg").write_bytes(b"")
        self.fail_with(1, "info", self.dir / "x.jpg", says="x.jpg")
        self.fail_with(1, "info", self.dir / "none.jpg", says="none.jpg")


if __name__ == "__main__":
    unittest.main()
