# SPDX-License-Identifier: Apache-2.0
"""Images of phones: whatever their EXIF orientation is, objects are found and drawn upright."""
import os
import re
import subprocess
import unittest

from program import MODEL, IMAGE, ProgramTest, needs_engine, read_npy, with_exif

# What shows an image with the tag upright: flip, then turn clockwise. A mirrored turn undoes
# itself.
UPRIGHT = {1: ("none", 0), 2: ("horizontal", 0), 3: ("none", 180), 4: ("horizontal", 180),
           5: ("horizontal", 270), 6: ("none", 90), 7: ("horizontal", 90), 8: ("none", 270)}


@needs_engine
class Upright(ProgramTest):
    def photos(self):
        """The clip's first frame as a phone would store it, by tag."""
        for tag, (flip, turn) in UPRIGHT.items():
            photo = self.dir / f"photo_{tag}.jpg"
            back = (360 - turn) % 360 if flip == "none" else turn
            line = ("--rotate", back) if flip == "none" else ("--flip", flip, "--rotate", back)
            self.succeed("convert", IMAGE, photo, "--quality", 100, *line)
            photo.write_bytes(with_exif(tag, photo.read_bytes()))
            yield tag, photo

    def pixels(self, image):
        self.succeed("convert", image, self.dir / "p.npy", "--no-orient")
        header, data = read_npy(self.dir / "p.npy")
        self.assertEqual(header["shape"], (360, 640, 3))
        return data

    def assert_same(self, have, want):
        """Objects [label, score, x1, y1, x2, y2]; JPEG blocks lie otherwise, so scores differ."""
        self.assertEqual(len(have), len(want))
        for one in want:
            same = [other for other in have if other[0] == one[0] and
                    all(abs(a - b) < 2.5 for a, b in zip(one[2:], other[2:]))]
            self.assertEqual(len(same), 1, (one, have))
            self.assertAlmostEqual(one[1], same[0][1], delta=0.05)

    def assert_looks_like(self, have, want):
        mean = sum(abs(a - b) for a, b in zip(have[::7], want[::7])) / len(want[::7])
        self.assertLess(mean, 3)

    def check(self, tag, found, image):
        """What was found and drawn is what the first tag's photo gives."""
        drawn = self.pixels(image)
        if tag == 1:
            self.first = found, drawn
            self.assertTrue(found)
        self.assert_same(found, self.first[0])
        self.assert_looks_like(drawn, self.first[1])

    def test_the_readmes_program_finds_and_draws_upright(self):
        program = os.environ.get("HALYARD_TINY_PIPELINE")
        if program is None:
            self.skipTest("the examples are not built")
        for tag, photo in self.photos():
            with self.subTest(tag):
                out = self.dir / "out.jpg"
                done = subprocess.run([program, MODEL, photo, out], capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                found = [[line[0], *map(float, re.findall(r"[\d.]+", line[1]))] for line in
                         re.findall(r"(\w+) (.*)", done.stdout.decode())]
                self.check(tag, found, out)

    def test_run_finds_and_draws_upright(self):
        for tag, photo in self.photos():
            with self.subTest(tag):
                out = self.dir / "out.jpg"
                frame = self.frames_of("run", "-m", MODEL, photo, "--out", out)[0]
                self.assertEqual((frame["width"], frame["height"]), (640, 360))
                found = [[d["label"], d["score"], *d["box"]] for d in frame["detections"]]
                self.check(tag, found, out)


if __name__ == "__main__":
    unittest.main()
