# SPDX-License-Identifier: Apache-2.0
"""halyard run with a network that gives masks: what is drawn, and the runs in the JSON."""
import struct
import unittest
import zlib

from program import DATA, MODEL, IMAGE, ProgramTest, needs_data, needs_engine
from segmentation_model import segmentation_model

RED, BLUE = (1, 0, -1), (-1, 0, 1)  # coefficients
COLOUR = (37, 150, 255)             # of class 0: palette_color(0)
WIDTH, HEIGHT = 128, 64             # an image that fills rows 16..48 of the network's input


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def write_png(path, rows):
    head = struct.pack(">IIBBBBB", len(rows[0]) // 3, len(rows), 8, 2, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) +
                     chunk(b"IEND", b""))


def predicted(kind, a, b, c):
    """PNG's five filters: left, above, above left."""
    if kind == 4:
        p = a + b - c
        return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
    return (0, a, b, (a + b) // 2)[kind]


def read_png(path):
    """Rows of (r, g, b)."""
    raw, at, data = path.read_bytes(), 8, b""
    width = struct.unpack_from(">I", raw, 16)[0]
    while at < len(raw):
        length = struct.unpack_from(">I", raw, at)[0]
        if raw[at + 4:at + 8] == b"IDAT":
            data += raw[at + 8:at + 8 + length]
        at += length + 12
    data, above, rows = zlib.decompress(data), bytearray(3 * width), []
    for start in range(0, len(data), 3 * width + 1):
        row = bytearray(data[start + 1:start + 1 + 3 * width])
        for i in range(3 * width):
            left, corner = (row[i - 3], above[i - 3]) if i > 2 else (0, 0)
            row[i] = (row[i] + predicted(data[start], left, above[i], corner)) & 255
        rows.append([tuple(row[3 * x:3 * x + 3]) for x in range(width)])
        above = row
    return rows


def pixels_of(segmentation):
    """The set of (x, y) that COCO's runs cover."""
    height, _ = segmentation["size"]
    text, counts, at = segmentation["counts"], [], 0
    while at < len(text):
        value, shift, more = 0, 0, True
        while more:
            code = ord(text[at]) - 48
            value |= (code & 31) << shift
            more, shift, at = code & 32, shift + 5, at + 1
            if not more and code & 16:
                value -= 1 << shift
        counts.append(value + (counts[-2] if len(counts) > 2 else 0))
    out, begin = set(), 0
    for i, count in enumerate(counts):
        if i % 2:
            out.update((k // height, k % height) for k in range(begin, begin + count))
        begin += count
    return out


@needs_engine
class RunWithMasks(ProgramTest):
    def make(self, *objects):
        """The model; an image, red on the left and blue on the right."""
        self.model, self.image = self.dir / "m.onnx", self.dir / "p.png"
        self.model.write_bytes(segmentation_model(objects))
        write_png(self.image, [[200, 40, 60] * (WIDTH // 2) + [60, 40, 200] * (WIDTH // 2)
                                 for _ in range(HEIGHT)])

    def run_model(self, *args):
        return self.frames_of("run", "-m", self.model, *args)

    def test_the_mask_is_drawn_where_the_runs_have_it(self):
        self.make((32, 32, 48, 24, 0, 0.9, *RED))
        out = self.dir / "o.png"
        found = self.run_model(self.image, "--out", out)[0]["detections"]
        self.assertEqual([d["box"] for d in found], [[16, 8, 112, 56]])
        self.assertEqual(found[0]["segmentation"]["size"], [HEIGHT, WIDTH])
        mask = pixels_of(found[0]["segmentation"])
        # The left half of the box; the network's colours are averages of eight by eight pixels.
        self.assertLessEqual({(x, y) for x in range(16, 60) for y in range(8, 56)}, mask)
        self.assertFalse({(x, y) for x, y in mask if x < 16 or x >= 68 or y < 8 or y >= 56})
        before, after = read_png(self.image), read_png(out)
        # Between the box's lines, below its tag.
        inside = [(x, y) for x in range(24, 104) for y in range(32, 50)]
        changed = {(x, y) for x, y in inside if before[y][x] != after[y][x]}
        self.assertEqual(changed, mask.intersection(inside))
        for x, y in changed:
            for c, p, got in zip(COLOUR, before[y][x], after[y][x]):
                self.assertEqual(got, (2 * (c * 128 + p * 127) + 255) // 510)

    def test_the_best_object_lies_on_top(self):
        self.make((32, 32, 48, 24, 0, 0.9, *RED), (32, 32, 48, 24, 1, 0.8, *RED))
        self.run_model(self.image, "--out", self.dir / "both.png")
        both = read_png(self.dir / "both.png")[32][40]
        self.make((32, 32, 48, 24, 1, 0.8, *RED))
        self.run_model(self.image, "--out", self.dir / "lower.png")
        lower = read_png(self.dir / "lower.png")[32][40]
        self.make((32, 32, 48, 24, 0, 0.9, *RED))
        write_png(self.image, [list(lower) * WIDTH for _ in range(HEIGHT)])
        self.run_model(self.image, "--out", self.dir / "upper.png")
        self.assertEqual(read_png(self.dir / "upper.png")[32][40], both)

    def test_tracks_colour_their_masks_and_others_have_none(self):
        self.make((16, 32, 20, 24, 0, 0.9, *RED), (48, 32, 20, 24, 0, 0.8, *BLUE),
                  (32, 32, 8, 24, 0, 0.5, *RED))
        (self.dir / "clip").mkdir()
        for name in ("a.png", "b.png"):
            (self.dir / "clip" / name).write_bytes(self.image.read_bytes())
        frames = self.run_model(self.dir / "clip", "--track", "--contact-sheet",
                                self.dir / "sheet.png")
        for frame in frames:
            self.assertEqual([d["track"] for d in frame["detections"]], [1, 2, None])
            self.assertTrue(all(pixels_of(d["segmentation"]) for d in frame["detections"]))
        out = self.dir / "o.png"
        self.run_model(self.image, "--track", "--out", out)
        rows, before = read_png(out), read_png(self.image)
        self.assertEqual(rows[34][60], before[34][60])  # of the third alone
        colours = [[(255 * got - 127 * p) / 128 for got, p in zip(rows[32][x], before[32][x])]
                   for x in (30, 98)]
        self.assertGreater(max(abs(a - b) for a, b in zip(*colours)), 40)
        self.run_model(self.image, "--track", "--track-score", 0.95, "--out", out)
        self.assertEqual(read_png(out), before)

    def test_frames_in_flight_keep_their_own_masks(self):
        self.make((32, 32, 48, 24, 0, 0.9, *RED))
        (self.dir / "clip").mkdir()
        for i in range(24):
            split = 8 + 4 * i
            write_png(self.dir / "clip" / f"{i:02}.png",
                      [[200, 40, 60] * split + [60, 40, 200] * (WIDTH - split)
                       for _ in range(HEIGHT)])
        results = []
        for in_flight in (1, 8):
            out = self.dir / f"o{in_flight}"
            frames = self.run_model(self.dir / "clip", "--out", out, "--in-flight", in_flight)
            results.append(([f["detections"] for f in frames],
                            [p.read_bytes() for p in sorted(out.iterdir())]))
        self.assertEqual(*results)
        areas = [len(pixels_of(d[0]["segmentation"])) for d in results[0][0]]
        self.assertEqual(areas, sorted(areas))
        self.assertGreater(areas[-1], areas[0])

    def test_a_network_without_masks_has_none_in_the_file(self):
        self.model = MODEL
        for found in self.run_model(IMAGE)[0]["detections"]:
            self.assertNotIn("segmentation", found)

    @needs_data
    def test_rotated_photographs_have_upright_masks(self):
        self.make((32, 32, 40, 56, 0, 0.9, *RED))
        masks = []
        for orientation in range(1, 9):
            image = f"{DATA}/photos/bus_320_exif_{orientation}.jpg"
            frame = self.run_model(image)[0]
            self.assertEqual(frame["detections"][0]["segmentation"]["size"], [320, 240])
            masks.append(pixels_of(frame["detections"][0]["segmentation"]))
        self.assertGreater(len(masks[0]), 1000)
        for mask in masks[1:]:
            self.assertGreater(len(mask & masks[0]), 0.97 * len(mask | masks[0]))


if __name__ == "__main__":
    unittest.main()
