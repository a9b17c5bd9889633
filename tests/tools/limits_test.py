# SPDX-License-Identifier: Apache-2.0
"""Limits of the program: options, small files that ask for much, names that lead elsewhere."""
import json
import os
import struct
import unittest
import zlib

from program import CLIP, MODEL, IMAGE, ProgramTest, needs_engine


def zigzag(points, side):
    """An outline that crosses all of an image `points` times."""
    return [value for i in range(points)
            for value in ((0 if i % 2 else side), i * side / points)]


def blank_png(width, height):
    def chunk(kind, content):
        return (struct.pack(">I", len(content)) + kind + content
                + struct.pack(">I", zlib.crc32(kind + content)))
    rows = zlib.compress(bytes(height * (1 + (width + 7) // 8)), 9)
    header = struct.pack(">IIBBBBB", width, height, 1, 3, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
            + chunk(b"PLTE", bytes(6)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


class Images(ProgramTest):
    def test_options_lower_and_raise_each_limit(self):
        out = self.dir / "out.png"
        for option, value, says in (("--max-width", 639, "limits.max_width: 640 > 639"),
                                    ("--max-height", 359, "limits.max_height: 360 > 359"),
                                    ("--max-pixels", 640 * 360 - 1, "limits.max_pixels"),
                                    ("--max-bytes", 1000, "limits.max_bytes")):
            with self.subTest(option):
                self.fail_with(1, "convert", IMAGE, out, option, value, says=says)
                self.assert_only()
        self.succeed("convert", IMAGE, out, "--max-pixels", 640 * 360)
        self.assert_only("out.png")

    def test_info_reads_no_header_beyond_the_limits(self):
        self.fail_with(1, "info", IMAGE, "--max-pixels", 100, says="limits.max_pixels")

    def test_a_small_file_of_a_huge_blank_image_is_refused_unless_it_is_wanted(self):
        image = self.write("blank.png", blank_png(12000, 9000))  # 324 MB of rgb
        self.assertLess(image.stat().st_size, 20000)
        out = self.dir / "out.png"
        self.fail_with(1, "convert", image, out, "--size", "8x8", says="limits.max_expansion")
        self.succeed("convert", image, out, "--size", "8x8", "--max-expansion", 100000)

    @needs_engine
    def test_run_and_val_take_the_options_too(self):
        done = self.run_program("run", "-m", MODEL, IMAGE, "--max-pixels", 100)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"limits.max_pixels", done.stderr)
        truth = self.write("truth.json", {
            "images": [{"id": 1, "file_name": IMAGE.name}], "annotations": [],
            "categories": [{"id": 1, "name": "boat"}]})
        self.fail_with(1, "val", "--gt", truth, "--model", MODEL, "--images", CLIP,
                       "--max-pixels", 100, says="limits.max_pixels")

    def test_what_has_no_end_is_read_to_a_limit(self):
        self.fail_with(1, "info", "/dev/zero", says="file is larger than max_bytes")


class Masks(ProgramTest):
    def val(self, annotations, results=(), side=65535):
        truth = {"images": [{"id": 1, "width": side, "height": side, "file_name": "a.jpg"}],
                 "categories": [{"id": 1, "name": "boat"}],
                 "annotations": [{"image_id": 1, "category_id": 1, "iscrowd": 0,
                                  "bbox": [0, 0, 9, 9],
                                  "segmentation": s} for s in annotations]}
        return ["val", "--gt", self.write("truth.json", truth), "--masks", "--detections",
                self.write("found.json", list(results))]

    def test_outlines_that_cross_a_huge_image_again_and_again_are_refused(self):
        for count in (100, 1000):
            command = self.val([[zigzag(50, 65535)] for _ in range(count)])
            self.fail_with(1, *command, says="outlines of all polygons are too long")
        # Flat ones have fewer steps than columns allow.
        self.fail_with(1, *self.val([[zigzag(50, 65535)]] * 6, side=65535), says="outlines of all")

    def test_outlines_of_ordinary_images_pass(self):
        circle = [4000 * (1 + j) / 2 for i in range(2000)
                  for j in (((i * 37) % 100) / 100, ((i * 91) % 100) / 100)]
        self.succeed(*self.val([[circle]], side=4000))
        self.succeed(*self.val([[[0, 0, 7680, 0, 7680, 4320, 0, 4320]]] * 500, side=7680))

    def test_comparisons_of_masks_have_a_limit(self):
        mask = {"size": [20, 15], "counts": [1] * 300}
        command = self.val([{**mask, "counts": [0, 300]}] * 8000, [
            {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": mask}] * 4000, side=9)
        truth = self.read_json("truth.json")
        truth["images"][0].update(width=15, height=20)
        self.write("truth.json", truth)
        self.fail_with(1, *command, says="too many runs to be compared")


class Tracks(ProgramTest):
    def limited(self, *args):
        """Runs in 400 MB of data, whatever the numbers of frames."""
        import resource
        limit = 400 << 20
        return self.run_program(*args, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_DATA, (limit, limit)))

    @unittest.skipIf(os.environ.get("HALYARD_SANITIZED") == "1", "its shadow needs address space")
    def test_a_late_frame_costs_no_memory(self):
        line = "10000000,1,5,5,20,20,0.9,-1,-1,-1\n"
        found = self.write("det.txt", line.replace("10000000", "1") + line)
        truth = self.write("gt.txt", line)
        done = self.limited("track", "--mot", found, "--gt", truth)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"10000000 frames, 2 detections", done.stdout)

    def test_detections_beyond_max_tracks_are_counted(self):
        found = self.write("det.txt", "".join(
            f"{frame},-1,{20 * i},5,10,10,0.9,-1,-1,-1\n" for frame in (1, 2) for i in range(30)))
        done = self.run_program("track", "--mot", found, "--max-tracks", 20)
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"60 detections, 20 tracks, 40 boxes, 20 detections left out", done.stdout)
        self.assertIn(b"20 detections were left out: more than --max-tracks 20", done.stderr)
        done = self.run_program("track", "--mot", found, "--max-tracks", 30)
        self.assertEqual(done.stderr, b"")
        self.assertIn(b"60 detections, 30 tracks, 60 boxes\n", done.stdout)

    def test_a_truth_of_thousands_of_boxes_in_a_frame_is_refused(self):
        truth = self.write("gt.txt", "".join(f"1,{i},5,5,20,20,1\n" for i in range(2049)))
        found = self.write("det.txt", "1,-1,5,5,20,20,0.9\n")
        self.fail_with(1, "track", "--mot", found, "--gt", truth, says="at most 2048 boxes")

    def test_a_truth_of_many_ids_is_read_in_linear_time(self):
        truth = self.write("gt.txt", "".join(
            f"{i // 1000 + 1},{i},{i % 1000},5,0.5,20,1\n" for i in range(200000)))
        found = self.write("det.txt", "1,-1,5,5,20,20,0.9\n")
        self.succeed("track", "--mot", found, "--gt", truth)


@needs_engine
class Folders(ProgramTest):
    def setUp(self):
        super().setUp()
        self.images = self.dir / "images"
        self.images.mkdir()
        self.write("outside.jpg", IMAGE.read_bytes())

    def val(self, name):
        truth = self.write("truth.json", {
            "images": [{"id": 1, "file_name": name}], "annotations": [],
            "categories": [{"id": i + 1, "name": n} for i, n in enumerate(
                ("boat", "buoy", "gull"))]})
        return ["val", "--gt", truth, "--model", MODEL, "--images", self.images]

    def test_names_that_lead_out_of_the_folder_are_refused(self):
        (self.images / "sub").mkdir()
        for name in ("../outside.jpg", str(self.dir / "outside.jpg"), "sub/../../outside.jpg", "",
                     "/etc/passwd"):
            with self.subTest(name):
                self.fail_with(1, *self.val(name), says="file name must be relative")

    def test_links_are_followed_inside_the_folder_alone(self):
        os.symlink("../outside.jpg", self.images / "out.jpg")
        self.fail_with(1, *self.val("out.jpg"), says="leads out of its folder through a link")
        os.symlink(self.dir, self.images / "up")
        self.fail_with(1, *self.val("up/outside.jpg"), says="leads out of its folder")
        (self.images / "sub").mkdir()
        (self.images / "sub" / "real.jpg").write_bytes(IMAGE.read_bytes())
        os.symlink("sub/real.jpg", self.images / "in.jpg")
        self.succeed(*self.val("in.jpg"))
        self.succeed(*self.val("sub/real.jpg"))

    def test_a_pipe_is_refused_and_not_waited_for(self):
        os.mkfifo(self.images / "pipe.jpg")
        self.fail_with(1, *self.val("pipe.jpg"), says="not that of a regular file")
        self.fail_with(1, *self.val("none.jpg"), says="none.jpg")


if __name__ == "__main__":
    unittest.main()
