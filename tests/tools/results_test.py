# SPDX-License-Identifier: Apache-2.0
"""halyard run --coco, --mot and --yolo: they hold what the JSON holds, and halyard reads them."""
import json
import os
import signal
import subprocess
import time
import unittest

from masks_test import RED, pixels_of, write_png
from program import CLIP, MODEL, IMAGE, PROGRAM, ProgramTest, needs_engine
from segmentation_model import pose_model, segmentation_model
from val_test import harbour_truth

FRAMES = IMAGE.read_bytes() * 4


class ResultsTest(ProgramTest):
    def frames(self, *args):
        """Runs with --json beside the given outputs; the JSON's frames."""
        self.succeed("run", "-q", *args, "--json", self.dir / "all.json")
        return self.read_json("all.json")["frames"]

    def masked(self, *objects, split=64):
        """A model, and an image that is red on the left and blue on the right."""
        model, image = self.dir / "m.onnx", self.dir / "p.png"
        model.write_bytes(segmentation_model(objects))
        write_png(image, [[200, 40, 60] * split + [60, 40, 200] * (128 - split)
                            for _ in range(64)])
        return model, image


@needs_engine
class Coco(ResultsTest):
    def test_results_measure_what_the_model_measures(self):
        truth, found = self.dir / "truth.json", self.dir / "found.json"
        truth.write_text(json.dumps(harbour_truth()))
        line = ("--preset", "ultralytics-val")
        wanted = self.succeed("val", "--gt", truth, "--model", MODEL, "--images", CLIP, *line,
                              "--json", "-")
        self.succeed("run", "-q", "-m", MODEL, CLIP, *line, "--coco", found, "--coco-gt", truth)
        got = self.succeed("val", "--gt", truth, "--detections", found, "--json", "-")
        self.assertEqual(json.loads(got), json.loads(wanted))
        self.assertGreater(json.loads(got)["summary"]["AP50"], 0.72)

    def test_without_a_ground_truth_ids_are_numbers_from_1(self):
        frames = self.frames("-m", MODEL, self.first_frames(), "--track", "--coco",
                             self.dir / "c.json")
        wanted = [(f["index"] + 1, f["source"], d["class"] + 1, d["track"])
                  for f in frames for d in f["detections"]]
        results = self.read_json("c.json")
        self.assertEqual([(r["image_id"], r["file_name"], r["category_id"], r.get("track_id"))
                          for r in results], wanted)
        self.assertTrue(any(r.get("track_id") for r in results))
        boxes = [d["box"] for f in frames for d in f["detections"]]
        for (x1, y1, x2, y2), r in zip(boxes, results):
            x, y, width, height = r["bbox"]
            for a, b in zip((x1, y1, x2, y2), (x, y, x + width, y + height)):
                self.assertAlmostEqual(a, b, delta=1e-3)

    def test_masks_are_compared_by_val(self):
        model, image = self.masked((32, 32, 48, 24, 0, 0.9, *RED))
        found = self.dir / "c.json"
        frame = self.frames("-m", model, image, "--coco", found)[0]
        mask = frame["detections"][0]["segmentation"]
        truth = {"images": [{"id": 1, "file_name": "p.png", "width": 128, "height": 64}],
                 "categories": [{"id": 1, "name": "red"}],
                 "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9],
                                  "segmentation": mask, "area": 2000}]}
        self.write("t.json", truth)
        got = self.succeed_json("val", "--gt", self.dir / "t.json", "--detections", found,
                                "--masks", "--json", "-")
        self.assertEqual(got["summary"]["AP"], 1)

    def test_keypoints_are_triples(self):
        model, image = self.dir / "m.onnx", self.dir / "p.png"
        model.write_bytes(pose_model([(32, 32, 16, 8, 0.9, [(30, 30, 0.8), (36, 34, 0.6)])]))
        write_png(image, [[9, 9, 9] * 128 for _ in range(64)])
        frame = self.frames("-m", model, image, "--coco", self.dir / "c.json", "--yolo",
                            self.dir / "y")[0]
        # 128 x 64 fills rows 16 to 48 of 64 x 64.
        wanted = [[60, 28, 0.8], [72, 36, 0.6]]
        self.assertEqual(frame["detections"][0]["keypoints"], wanted)
        result = self.read_json("c.json")[0]
        for a, b in zip(result["keypoints"], sum(wanted, [])):
            self.assertAlmostEqual(a, b, delta=1e-4)
        line = [float(v) for v in (self.dir / "y" / "p.txt").read_text().split()]
        numbers = [0, .5, .5, .25, .25, 60 / 128, 28 / 64, .8, 72 / 128, 36 / 64, .6, .9]
        self.assertEqual(len(line), len(numbers))
        for a, b in zip(line, numbers):
            self.assertAlmostEqual(a, b, delta=1e-5)

    def test_a_ground_truth_of_other_images_or_classes_is_told(self):
        truth = harbour_truth(1)
        path = self.dir / "truth.json"
        line = ("run", "-q", "-m", MODEL, CLIP, "--coco", self.dir / "c.json", "--coco-gt", path)
        path.write_text(json.dumps(truth))
        self.fail_with(1, *line, says="the ground truth has no image of this file name")
        truth["images"] *= 2
        truth["images"][1] = truth["images"][0] | {"id": 7}
        path.write_text(json.dumps(truth))
        self.fail_with(1, *line, says="a file_name comes twice")
        truth["images"], truth["categories"] = truth["images"][:1], [{"id": 10, "name": "x"}]
        truth["annotations"] = []
        path.write_text(json.dumps(truth))
        self.fail_with(1, *line, says="none is the name of a category")
        self.fail_with(2, "run", "-m", MODEL, CLIP, "--coco-gt", path, says="is for --coco")


@needs_engine
class Mot(ResultsTest):
    def test_detections_are_tracked_as_run_tracks_them(self):
        det, out = self.dir / "det.txt", self.dir / "out.txt"
        frames = self.frames("-m", MODEL, self.first_frames(), "--mot", det)
        lines = [line.split(",") for line in det.read_text().splitlines()]
        self.assertEqual([int(line[0]) for line in lines],
                         [f["index"] + 1 for f in frames for _ in f["detections"]])
        self.assertEqual({line[1] for line in lines}, {"-1"})
        text = self.succeed("track", "--mot", det, "--fps", 25, "--out", out)
        boxes = sum(len(f["detections"]) for f in frames)
        self.assertIn(f"{boxes} detections", text)
        self.assertGreater(len(out.read_text().splitlines()), 0.5 * boxes)

    def test_with_tracks_their_boxes_alone_are_written(self):
        out = self.dir / "out.txt"
        frames = self.frames("-m", MODEL, self.first_frames(), "--track", "--mot", out)
        wanted = [(f["index"] + 1, d["track"]) for f in frames for d in f["detections"]
                  if d["track"] is not None]
        lines = [line.split(",") for line in out.read_text().splitlines()]
        self.assertEqual([(int(line[0]), int(line[1])) for line in lines], wanted)
        self.assertGreater(len(wanted), 0)
        # Read as a truth, where an id is at most once in a frame.
        self.succeed("track", "--mot", out, "--gt", out)


@needs_engine
class Yolo(ResultsTest):
    def test_a_text_for_each_image_has_its_boxes_as_fractions(self):
        clip, folder = self.first_frames(), self.dir / "labels"
        frames = self.frames("-m", MODEL, clip, "--track", "--yolo", folder)
        self.assertEqual(sorted(p.name for p in folder.iterdir()),
                         sorted(p.stem + ".txt" for p in clip.glob("*.jpg")))
        for frame in frames:
            name = frame["source"].rsplit("/", 1)[-1].replace(".jpg", ".txt")
            lines = (folder / name).read_text().splitlines()
            self.assertEqual(len(lines), len(frame["detections"]))
            for line, d in zip(lines, frame["detections"]):
                label, x, y, w, h, score, *track = line.split()
                x1, y1, x2, y2 = d["box"]
                self.assertEqual(int(label), d["class"])
                self.assertEqual([int(t) for t in track], [d["track"]] if d["track"] else [])
                for a, b in ((x, (x1 + x2) / 1280), (y, (y1 + y2) / 720), (w, (x2 - x1) / 640),
                             (h, (y2 - y1) / 360), (score, d["score"])):
                    self.assertAlmostEqual(float(a), b, delta=2e-4)

    def test_a_mask_is_its_outline(self):
        model, image = self.masked((32, 32, 48, 24, 0, 0.9, *RED))
        frame = self.frames("-m", model, image, "--yolo", self.dir / "y")[0]
        label, *numbers, score = (self.dir / "y" / "p.txt").read_text().split()
        self.assertEqual((label, score), ("0", "0.9"))
        points = [(float(x) * 128, float(y) * 64) for x, y in zip(numbers[::2], numbers[1::2])]
        self.assertGreaterEqual(len(points), 4)
        mask = pixels_of(frame["detections"][0]["segmentation"])
        twice = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(points, points[1:] + points[:1]))
        self.assertAlmostEqual(abs(twice) / 2, len(mask), delta=0.05 * len(mask))

    def test_an_empty_mask_leaves_the_box_and_nothing_found_an_empty_text(self):
        model, image = self.masked((48, 32, 16, 24, 0, 0.9, *RED))
        self.frames("-m", model, image, "--yolo", self.dir / "y")
        self.assertEqual(len((self.dir / "y" / "p.txt").read_text().split()), 6)
        self.frames("-m", model, image, "--score", 0.95, "--yolo", self.dir / "y")
        self.assertEqual((self.dir / "y" / "p.txt").read_text(), "")

    def test_names_that_are_in_use_are_left_alone(self):
        folder = self.dir / "y"
        folder.mkdir()
        (folder / "frame_0000.txt").write_text("boat\nbuoy\ngull\n")
        self.frames("-m", MODEL, IMAGE, "--labels", folder / "frame_0000.txt", "--yolo", folder)
        self.assertEqual((folder / "frame_0000.txt").read_text(), "boat\nbuoy\ngull\n")
        self.assertTrue((folder / "frame_0000_000000.txt").exists())


@needs_engine
class Guards(ResultsTest):
    def test_outputs_are_no_inputs_and_differ(self):
        model, image = self.dir / "m.onnx", self.dir / "p.jpg"
        model.write_bytes(MODEL.read_bytes())
        image.write_bytes(IMAGE.read_bytes())
        truth = self.write("t.json", harbour_truth(1))
        line = ("run", "-m", model, image, "--coco-gt", truth)
        for option in ("--coco", "--mot"):
            for other, path in (("--model", model), ("the input", image), ("--coco-gt", truth)):
                text = self.fail_with(2, *line, option, path, says="would overwrite")
                self.assertIn(other, text)
            self.fail_with(2, *line, option, self.dir / "n", "--json", self.dir / "n",
                           says="is the same file as")
            self.fail_with(2, *line, option, "-", "--json", "-", says="is the same file as")
        self.assertEqual(model.read_bytes(), MODEL.read_bytes())

    def test_a_link_in_the_folder_of_texts_to_an_input_is_refused(self):
        model, folder = self.dir / "m.onnx", self.dir / "y"
        model.write_bytes(MODEL.read_bytes())
        folder.mkdir()
        (folder / "frame_0000.txt").symlink_to(model)
        self.fail_with(2, "run", "-m", model, IMAGE, "--yolo", folder, says="would overwrite")
        self.assertEqual(model.read_bytes(), MODEL.read_bytes())

    def test_names_are_checked_before_the_model_loads(self):
        self.fail_with(2, "run", "-m", "no.onnx", IMAGE, "--yolo", "-", says="--yolo -")
        self.write("file", "")
        self.fail_with(1, "run", "-m", MODEL, IMAGE, "--yolo", self.dir / "file", says="--yolo")

    def test_each_goes_to_standard_output(self):
        clip, out = self.first_frames(3), self.dir / "file"
        for option in ("--coco", "--mot"):
            text = self.succeed("run", "-m", MODEL, clip, option, "-")
            self.succeed("run", "-q", "-m", MODEL, clip, option, out)
            self.assertEqual(text, out.read_text())

    def test_a_killed_run_leaves_whole_files_of_its_frames(self):
        coco, mot, folder = self.dir / "c.json", self.dir / "m.txt", self.dir / "y"
        line = [PROGRAM, "run", "-m", MODEL, "-", "--coco", coco, "--mot", mot, "--yolo", folder]
        with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            process.stdin.write(FRAMES)
            process.stdin.flush()
            for _ in range(6000):
                if folder.exists() and os.listdir(folder) and mot.exists() and mot.stat().st_size:
                    break
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait(timeout=60)
        self.assertGreater(len(self.read_json(coco)), 0)
        self.assertTrue(mot.read_text().endswith("\n"))
        self.assertIn("detections", self.succeed("track", "--mot", mot))


if __name__ == "__main__":
    unittest.main()
