# SPDX-License-Identifier: Apache-2.0
"""halyard run --preset: the network's input and the choice of boxes are those of halyard val."""
import json
import unittest

from masks_test import RED, write_png
from program import CLIP, MODEL, ProgramTest, needs_engine
from segmentation_model import segmentation_model
from val_test import harbour_truth

PRESETS = ("ultralytics-val", "ultralytics", "hal")


@needs_engine
class Presets(ProgramTest):
    def run_boxes(self, *args):
        frames = self.frames_of("run", "-m", MODEL, *args)
        return [[(d["class"], d["score"], *d["box"]) for d in f["detections"]] for f in frames]

    def val_boxes(self, count, *args):
        truth, out = self.dir / "truth.json", self.dir / "found.json"
        truth.write_text(json.dumps(harbour_truth(count)))
        self.succeed("val", "-q", "--gt", truth, "--model", MODEL, "--images", CLIP, "--out", out,
                     *args)
        frames = [[] for _ in range(count)]
        for d in self.read_json(out):
            x, y, width, height = d["bbox"]
            frames[d["image_id"] - 100].append((d["category_id"] - 10, d["score"], x, y,
                                                x + width, y + height))
        return frames

    def assert_same(self, ours, wanted):
        self.assertEqual([len(f) for f in ours], [len(f) for f in wanted])
        for mine, his in zip(ours, wanted):
            for a, b in zip(mine, his):
                self.assertEqual(a[0], b[0])
                for p, q in zip(a[1:], b[1:]):
                    self.assertAlmostEqual(p, q, delta=1e-3)

    def test_run_and_val_give_the_same_boxes(self):
        count = 6
        images = sorted(CLIP.glob("*.jpg"))[:count]
        counts = {}
        for name in PRESETS:
            with self.subTest(name):
                ours = self.run_boxes(*images, "--preset", name)
                self.assert_same(ours, self.val_boxes(count, "--preset", name))
                counts[name] = sum(map(len, ours))
        # One class of a box above 0.25, all classes above 0.001, scores from 0.5.
        self.assertGreater(counts["ultralytics-val"], counts["ultralytics"])
        self.assertGreater(counts["ultralytics"], counts["hal"])

    def test_options_by_name_go_before_the_preset(self):
        count = 3
        images = sorted(CLIP.glob("*.jpg"))[:count]
        line = ("--preset", "hal", "--score", "0.1", "--iou", "0.3", "--letterbox", "ultralytics")
        self.assert_same(self.run_boxes(*images, *line), self.val_boxes(count, *line))

    def test_small_images_are_enlarged_or_not_as_the_rule_has_it(self):
        # 90 x 64 into 64 x 64 shrinks; 32 x 24 shows whether the letterbox enlarges.
        model, image = self.dir / "m.onnx", self.dir / "p.png"
        model.write_bytes(segmentation_model([(32, 32, 16, 12, 0, 0.9, *RED)]))
        write_png(image, [[200, 40, 60] * 32 for _ in range(24)])
        line = ("run", "-m", model, image, "--json", "-", "--preset")
        boxes = {}
        for name in PRESETS:
            found = self.succeed_json(*line, name)["frames"][0]["detections"]
            boxes[name] = found[0]["box"]
        self.assertEqual(boxes["ultralytics-val"], [8, 6, 24, 18])   # pixel for pixel
        self.assertEqual(boxes["ultralytics"], [12, 9, 20, 15])      # twice as large

    def test_masks_follow_the_preset(self):
        # A colour edge between pixels: the rules put it at different places.
        model, images = self.dir / "m.onnx", self.dir / "images"
        image = images / "p.png"
        images.mkdir()
        model.write_bytes(segmentation_model([(32, 32, 48, 24, 0, 0.9, *RED)]))
        write_png(image, [[200, 40, 60] * 53 + [60, 40, 200] * 75 for _ in range(64)])
        truth = {"images": [{"id": 1, "file_name": "p.png", "width": 128, "height": 64}],
                 "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9],
                                  "segmentation": [[0, 0, 9, 0, 9, 9]]}],
                 "categories": [{"id": 1, "name": "red"}, {"id": 2, "name": "blue"}]}
        self.write("t.json", truth)
        masks = {}
        for name in PRESETS:
            masks[name] = self.frames_of("run", "-m", model, image, "--preset",
                                         name)[0]["detections"][0]["segmentation"]
            self.succeed("val", "-q", "--gt", self.dir / "t.json", "-m", model, "--images",
                         images, "--preset", name, "--out", self.dir / "o.json")
            found = self.read_json("o.json")
            self.assertEqual(found[0]["segmentation"], masks[name])
        self.assertNotEqual(masks["ultralytics-val"], masks["hal"])
        self.assertNotEqual(self.frames_of("run", "-m", model, image, "--preset", "hal",
                                           "--mask-rule",
                                           "ultralytics")[0]["detections"][0]["segmentation"],
                            masks["hal"])

    def test_another_preset_is_refused(self):
        self.fail_with(2, "run", "-m", MODEL, CLIP, "--preset", "nosuch",
                       says="'nosuch' is not ultralytics-val, ultralytics or hal")


if __name__ == "__main__":
    unittest.main()
