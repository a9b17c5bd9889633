# SPDX-License-Identifier: Apache-2.0
"""halyard run on the harbour clip: its files, and how it ends when things go wrong."""
import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

from program import (CLIP, DATA, MODEL, IMAGE, PROGRAM, ProgramTest, needs_data, needs_engine)


def iou(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return width * height / (area(a) + area(b) - width * height)


@needs_engine
class Run(ProgramTest):
    def test_a_folder_gives_every_file_in_order(self):
        out = self.dir
        table = self.succeed("run", "--model", MODEL, CLIP, "--track", "--out", out / "frames",
                             "--json", out / "t.json", "--trace", out / "trace.json",
                             "--contact-sheet", out / "sheet.png", "--stats", "--in-flight", 8)
        frames = json.loads((out / "t.json").read_text())["frames"]
        count = len(list(CLIP.glob("*.jpg")))
        self.assertEqual([f["index"] for f in frames], list(range(count)))
        self.assertEqual([f["source"] for f in frames], sorted(f["source"] for f in frames))
        self.assertEqual(len(list((out / "frames").glob("frame_*.jpg"))), count)
        self.assertTrue(any(d["track"] for f in frames for d in f["detections"]))
        for frame in frames:
            self.assertEqual((frame["width"], frame["height"]), (640, 360))
            self.assertLessEqual({"load", "convert", "model", "decode", "track", "draw", "encode"},
                                 frame["timing_us"].keys())
            for seen in frame["detections"]:
                x1, y1, x2, y2 = seen["box"]
                self.assertTrue(0 <= x1 < x2 <= 640 and 0 <= y1 < y2 <= 360, seen)
                self.assertIn(seen["label"], ("boat", "buoy", "gull"))
        self.assertTrue((out / "sheet.png").read_bytes().startswith(b"\x89PNG"))
        trace = json.loads((out / "trace.json").read_text())
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        names = {event.get("name") for event in events}
        self.assertLessEqual({"model.run", "pipeline.load"}, names)
        self.assertIn("p50", table)
        self.assertIn("copies per frame 0.0", table)
        self.assert_only("frames", "t.json", "trace.json", "sheet.png")

    def test_frames_in_flight_do_not_change_the_result(self):
        clip, results = self.first_frames(30), []
        for in_flight in (1, 6):
            frames = self.frames_of("run", "-m", MODEL, clip, "--track", "--in-flight", in_flight)
            results.append([(f["index"], f["detections"]) for f in frames])
        self.assertEqual(*results)

    def test_detections_beyond_the_trackers_limit_are_told(self):
        line = ("run", "-m", MODEL, self.first_frames(), "--track", "-q", "--json",
                self.dir / "o.json")
        done = self.run_program(*line, "--max-tracks", 1, "--stats")
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = self.read_json("o.json")["frames"]
        # Those of a frame that are not looked at; the one track may coast beside them.
        least = sum(len(f["detections"]) - 1 for f in frames if f["detections"])
        told = re.fullmatch(r"halyard: --track: (\d+) detections were left out: more than "
                            r"--max-tracks 1 at once\n", done.stderr.decode())
        self.assertTrue(told, done.stderr)
        self.assertGreater(least, 0)
        self.assertGreaterEqual(int(told[1]), least)
        self.assertIn(f"detections left out {told[1]}\n", done.stdout.decode())
        done = self.run_program(*line, "--stats")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertNotIn(b"left out", done.stdout)
        for wrong in ("0", "65537"):
            self.fail_with(2, *line, "--max-tracks", wrong, says="--max-tracks")

    def test_an_image_prints_what_was_found_and_is_drawn(self):
        text = self.succeed("run", "-m", MODEL, IMAGE, "--out", self.dir / "seen.png")
        self.assertIn("frame_0000.jpg: ", text)
        self.assertIn("boat", text)
        self.assertEqual(self.succeed("run", "-m", MODEL, IMAGE, "-q"), "")
        self.assert_only("seen.png")

    def test_standard_input_and_several_files_are_read(self):
        with open(IMAGE, "rb") as image:
            self.assertIn("boat", self.succeed("run", "-m", MODEL, "-", stdin=image))
        self.assertEqual([f["index"] for f in self.frames_of("run", "-m", MODEL, IMAGE,
                                                             CLIP / "frame_0001.jpg")], [0, 1])

    def test_labels_of_a_file_win(self):
        self.write("labels.txt", "ship\nmark\nbird\n")
        text = self.succeed("run", "-m", MODEL, IMAGE, "--labels", self.dir / "labels.txt")
        self.assertIn("ship", text)

    def test_bad_images_give_one_line_and_no_file(self):
        whole = IMAGE.read_bytes()
        bad = {"empty.jpg": b"", "text.jpg": b"hello\n", "head.jpg": whole[:100],
               "cut.jpg": whole[:len(whole) // 2],
               "huge.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\x7f\xff\xff\xff" * 2 +
                           b"\x08\2\0\0\0"}
        for name, content in bad.items():
            with self.subTest(name):
                self.write(name, content)
                self.fail_with(1, "run", "-m", MODEL, self.dir / name, "--out", self.dir / "o.jpg",
                               "--json", self.dir / "o.json", says=name)
                self.assertFalse((self.dir / "o.json").exists())
                (self.dir / name).unlink()
                self.assert_only()

    def test_a_bad_image_among_good_ones_is_told_and_passed_over(self):
        self.write("bad.jpg", b"hello")
        self.fail_with(1, "run", "-m", MODEL, IMAGE, self.dir / "bad.jpg", IMAGE, "--json",
                       self.dir / "o.json", says="bad.jpg")
        self.assertEqual(len(self.read_json("o.json")["frames"]), 2)

    def test_bad_models_give_one_line(self):
        for name, content in {"e.onnx": b"", "x.onnx": b"\xa7" * 3000, "x.tflite": b"TFL3",
                              "cut.onnx": MODEL.read_bytes()[:5000], "x.txt": b"x"}.items():
            with self.subTest(name):
                self.write(name, content)
                self.fail_with(1, "run", "-m", self.dir / name, IMAGE, says=name)
        self.fail_with(1, "run", "-m", self.dir / "none.onnx", IMAGE, says="none.onnx")

    def test_outputs_that_cannot_be_written_give_one_line(self):
        for option in ("--json", "--trace", "--out", "--contact-sheet"):
            with self.subTest(option):
                self.fail_with(1, "run", "-m", MODEL, IMAGE, option, "/sys/halyard.png",
                               says="/sys/halyard.png")
        self.fail_with(1, "run", "-m", MODEL, IMAGE, "--out", self.dir / "none" / "x.jpg")
        self.write("file", "")
        self.fail_with(1, "run", "-m", MODEL, CLIP, "--out", self.dir / "file", says="--out")
        if os.path.exists("/dev/full"):
            self.fail_with(1, "run", "-m", MODEL, IMAGE, "--json", "/dev/full", says="No space")
        self.assert_only("file")

    def test_a_full_disk_leaves_no_half_file(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
        for name in ("x.jpg", "frames", "x.mp4"):
            with self.subTest(name):
                self.fail_with(1, "run", "-m", MODEL, IMAGE, "--out", self.dir / name, "--json",
                               self.dir / "o.json", preexec_fn=limit)
                left = {p.name: p for p in self.dir.rglob("*") if p.is_file()}
                if "o.json" in left:  # small enough for the disk, so it must be whole
                    json.loads(left.pop("o.json").read_text())
                self.assertEqual(list(left), [])

    def test_a_missing_font_names_what_was_tried(self):
        self.fail_with(1, "run", "-m", MODEL, IMAGE, "--out", self.dir / "o.jpg", "--font",
                       "/nosuch.ttf", says="/nosuch.ttf")
        self.assert_only()

    def test_inputs_are_not_overwritten(self):
        copy = self.write("p.jpg", IMAGE.read_bytes())
        for target in (copy, self.dir):
            self.fail_with(2, "run", "-m", MODEL, copy, "--out", target, says="overwrite")
        self.fail_with(2, "run", "-m", MODEL, CLIP, "--out", self.dir / "o.jpg", says="folder")

    def interrupted(self, number, *outputs):
        """Feeds four images through a pipe that stays open, silent, then sends the signal."""
        arguments = [PROGRAM, "run", "-m", str(MODEL), "-", *map(str, outputs)]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdin.write(IMAGE.read_bytes() * 4)
            process.stdin.flush()
            process.stdout.readline()  # one frame is through
            time.sleep(0.3)
            process.send_signal(number)
            process.wait(timeout=60)
            text = process.stderr.read()
        # A shell shows both as 128 + number; Ctrl-C has an exit code of its own.
        self.assertEqual(process.returncode, 130 if number == signal.SIGINT else -number, text)
        self.assertEqual(len(text.splitlines()), 1, text)

    def test_an_interrupt_leaves_complete_files(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                json_file, trace = self.dir / "o.json", self.dir / "t.json"
                self.interrupted(number, "--json", "-", "--trace", trace, "--out", self.dir / "f")
                self.assertTrue(self.read_json(trace))
                for image in (self.dir / "f").iterdir():
                    self.assertTrue(image.read_bytes().endswith(b"\xff\xd9"), image)
                self.assertFalse(json_file.exists())

    def test_a_video_is_written_and_read_again(self):
        video = self.dir / "seen.mp4"
        done = self.run_program("run", "-m", MODEL, self.first_frames(20), "--track", "--out",
                                video, "-q")
        if b"FFmpeg" in done.stderr:
            self.skipTest("this build has no FFmpeg")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_only("seen.mp4")
        self.assertEqual(len(self.frames_of("run", "-m", MODEL, video)), 20)


@needs_engine
@needs_data
class RunOnPhotographs(ProgramTest):
    def test_the_bus_and_the_people_are_found_as_the_recording_has_them(self):
        model = DATA + "/models/yolov8n_full_integer_quant.tflite"
        have = self.frames_of("run", "--model", model, "--labels", DATA + "/models/coco.txt",
                              DATA + "/photos/bus.jpg")[0]["detections"]
        self.assertEqual(sorted(d["label"] for d in have), ["bus"] + ["person"] * 4)
        want = self.frames_of("decode", DATA + "/model_outputs/yolov8n_full_integer_quant__bus.npy",
                              "--quant", "0.003906319383531809,-128", "--input-size", "640x640",
                              "--source-size", "810x1080")[0]["detections"]
        self.assertEqual(len(want), 5)
        for detection in want:
            same = [d for d in have if d["class"] == detection["class"]]
            self.assertGreaterEqual(max(iou(d["box"], detection["box"]) for d in same), 0.8)

    def test_rotated_photographs_give_upright_boxes(self):
        model = DATA + "/models/yolov8n_full_integer_quant.tflite"
        photos = [f"{DATA}/photos/bus_320_exif_{number}.jpg" for number in range(1, 9)]
        frames = self.frames_of("run", "-m", model, *photos)
        self.assertEqual([frame["source"] for frame in frames], photos)
        for frame in frames:
            with self.subTest(frame["source"]):
                self.assertEqual((frame["width"], frame["height"]), (240, 320))
                bus = [d["box"] for d in frame["detections"] if d["label"] == "bus"]
                self.assertGreater(iou(bus[0], [10.6, 68.7, 236.9, 226.2]), 0.8, bus)


if __name__ == "__main__":
    unittest.main()
