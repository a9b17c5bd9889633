# SPDX-License-Identifier: Apache-2.0
"""halyard val of keypoints, rotated boxes and classes of images: files, folders, and the demo's
networks on their photo."""
import json
import shutil
import unittest

from json_schema import hold
from program import HARBOUR, ProgramTest, needs_engine

IMAGES = [{"id": 5, "width": 200, "height": 100, "file_name": "a.jpg"},
          {"id": 2, "width": 200, "height": 100, "file_name": "b.jpg"}]
CATEGORIES = [{"id": 7, "name": "boat"}, {"id": 4, "name": "buoy"}]
POINTS = [20, 20, 2, 40, 40, 1, 0, 0, 0]
LIGHTS = ["dawn", "morning", "noon", "overcast", "fog", "golden", "dusk", "blue_hour", "storm"]


class KindsTest(ProgramTest):
    def files(self, annotations, results, categories=None):
        truth = {"images": IMAGES, "annotations": annotations,
                 "categories": categories or CATEGORIES}
        return ["--gt", self.write("truth.json", truth),
                "--detections", self.write("results.json", results)]

    def scores(self, files, *options):
        return hold(self, "val", self.succeed("val", *files, "--json", "-", *options))


def of(image, category, **more):
    return {"image_id": image, "category_id": category, **more}


class Keypoints(KindsTest):
    def pair(self, points=None, sigmas=None):
        there = of(5, 7, bbox=[10, 10, 40, 40], keypoints=POINTS)
        categories = [CATEGORIES[0] | {"keypoints": ["bow", "stern", "mast"]}, CATEGORIES[1]]
        if sigmas:
            categories[0]["sigmas"] = sigmas
        other = of(2, 4, bbox=[0, 0, 9, 9])
        found = [of(5, 7, keypoints=points or POINTS, score=0.5),
                 of(2, 4, bbox=[0, 0, 9, 9], score=0.5)]
        return self.files([there, other], found, categories)

    def test_ten_numbers_of_the_categories_that_have_keypoints(self):
        got = self.scores(self.pair(), "--keypoints")
        self.assertEqual((got["kind"], got["annotations"], got["detections"], got["left_out"]),
                         ("keypoints", 1, 1, 1))
        self.assertEqual((got["summary"]["AP"], got["summary"]["AR75"]), (1, 1))
        self.assertEqual(got["categories"], [
            {"id": 4, "name": "buoy", "AP": None},
            {"id": 7, "name": "boat", "AP": 1, "sigmas": [1 / 3, 1 / 3, 1 / 3]}])
        text = self.succeed("val", *self.pair(), "--keypoints")
        self.assertIn("keypoints: 2 images, 1 annotations of 2 categories, 1 detections", text)
        self.assertIn("sigmas of boat: 0.3333 0.3333 0.3333", text)
        self.assertRegex(text, r"AR_large +- ")

    def test_sigmas_decide_how_near_is_near(self):
        # The last keypoint is not labeled; the others are 4 px away, of an area of 1600.
        moved = [24, 20, 1, 40, 44, 1, 99, 99, 1]
        exact = self.scores(self.pair(moved, [0.01] * 3), "--keypoints")
        self.assertEqual(exact["summary"]["AP50"], 0)
        wide = self.scores(self.pair(moved, [0.01] * 3), "--keypoints", "--sigmas", "0.5")
        self.assertEqual(wide["summary"]["AP"], 1)
        self.assertEqual(wide["categories"][1]["sigmas"], [0.5] * 3)

    def test_what_is_wrong_is_named(self):
        self.fail_with(1, "val", *self.pair([1, 2, 3]), "--keypoints",
                       says="[0].keypoints: has 1, must have the 3 of its category")
        text = self.fail_with(1, "val", *self.pair(), "--keypoints", "--sigmas", "0.1", "0.2",
                              says="sigmas must be one, or one for each keypoint: 2 for 3")
        self.assertIn("--gt", text)
        self.fail_with(2, "val", *self.pair(), "--keypoints", "--sigmas", "-1", says="--sigmas")
        self.fail_with(2, "val", *self.pair(), "--keypoints", "--masks", says="--masks")
        files = self.files([of(5, 7, bbox=[0, 0, 9, 9])], [])
        self.fail_with(1, "val", *files, "--keypoints",
                       says="annotations[0].keypoints: is missing")


class RotatedBoxes(KindsTest):
    def test_numbers_corners_and_polygons_are_the_same_box(self):
        truths = [{"rbox": [50, 50, 40, 20, 0]}, {"poly": [30, 40, 70, 40, 70, 60, 30, 60]},
                  {"segmentation": [[30, 40, 70, 40, 70, 60, 30, 60]]}]
        for truth in truths:
            # Half a turn is the same box; a quarter is not: 400 of 1200 pixels are shared.
            for angle, wanted in ((3.141592653589793, 1), (1.5707963267948966, 0)):
                files = self.files([of(5, 7, **truth)],
                                   [of(5, 7, rbox=[50, 50, 40, 20, angle], score=0.5)])
                got = self.scores(files, "--rotated")
                self.assertEqual(got["summary"]["AP50"], wanted, (truth, angle))
        self.assertEqual(got["kind"], "rotated_boxes")

    def test_the_bounds_are_compared_without_the_option(self):
        box = of(5, 7, rbox=[50, 50, 40, 20, 1.5707963267948966])
        files = self.files([box], [of(5, 7, bbox=[40, 30, 20, 40], score=0.5)])
        self.assertEqual(self.scores(files)["summary"]["AP"], 1)

    def test_what_is_wrong_is_named(self):
        files = self.files([of(5, 7, rbox=[50, 50, 40, 20, 0])], [of(5, 7, score=0.5)])
        self.fail_with(1, "val", *files, "--rotated", says="[0].rbox: is missing, and poly")
        files = self.files([of(5, 7, poly=[0, 0, 9, 9, 9, 0, 0, 9])], [])
        self.fail_with(1, "val", *files, "--rotated",
                       says="annotations[0].poly: must be convex, with its corners in order")


class Classes(KindsTest):
    def test_top_one_and_top_five(self):
        files = self.files([of(5, 7), of(2, 4)],
                           [of(5, 7, score=0.5), of(5, 4, score=0.4), of(2, 7, score=0.5),
                            of(2, 4, score=0.4)])
        got = self.scores(files, "--classes")
        self.assertEqual(got["summary"], {"top1": 0.5, "top5": 1})
        self.assertEqual(got["categories"], [{"id": 4, "name": "buoy", "top1": 0},
                                             {"id": 7, "name": "boat", "top1": 1}])
        text = self.succeed("val", *files, "--classes", "--by-class")
        self.assertRegex(text, r"top1 +0.5000 ")
        self.assertRegex(text, r"  boat +1.0000")

    def test_an_image_has_one_class(self):
        files = self.files([of(5, 7), of(5, 4)], [])
        self.fail_with(1, "val", *files, "--classes",
                       says="annotations[1].image_id: the image has a class already")

    def test_a_folder_without_classes_is_told(self):
        empty, results = self.dir / "empty", self.write("results.json", [])
        empty.mkdir()
        self.fail_with(1, "val", "--gt", empty, "--detections", results, "--classes",
                       says="must hold a folder of images for each class")
        (empty / "boat").mkdir()
        (empty / "boat" / "a.jpg").write_bytes(b"x")
        self.fail_with(1, "val", "--gt", empty, "--detections", results,
                       says="a folder of classes has nothing but classes to measure")


def photo_truth():
    """The photo with everything that is known of it, as COCO's instances."""
    told = json.loads((HARBOUR / "photo_truth.json").read_text())
    names = ["boat", "buoy", "gull"]
    annotations = []
    for thing in told["objects"]:
        x1, y1, x2, y2 = thing["box"]
        entry = of(1, names.index(thing["class"]), bbox=[x1, y1, x2 - x1, y2 - y1],
                   rbox=thing["rbox"], segmentation=thing["segmentation"])
        if "points" in thing:
            entry["keypoints"] = [v for point in thing["points"] for v in point]
        annotations.append(entry)
    height, width = told["objects"][0]["segmentation"]["size"]
    categories = [{"id": i, "name": name} for i, name in enumerate(names)]
    categories[0].update(keypoints=["left end", "right end", "masthead"], sigmas=[0.1] * 3)
    return {"images": [{"id": 1, "file_name": "photo.jpg", "width": width, "height": height}],
            "annotations": annotations, "categories": categories}


@needs_engine
class Model(KindsTest):
    def run_model(self, name, *options):
        gt = self.write("truth.json", photo_truth())
        out = self.dir / "found.json"
        got = self.scores(["--gt", gt, "--model", HARBOUR / name, "--images", HARBOUR,
                           "--out", out], *options)
        return got, ["--gt", gt, "--detections", out]

    def test_what_a_model_gives_beside_boxes_is_measured(self):
        for name, kind, option in (("harbour_pose.onnx", "keypoints", "--keypoints"),
                                   ("harbour_obb.onnx", "rotated_boxes", "--rotated"),
                                   ("harbour_seg.onnx", "masks", "--masks")):
            with self.subTest(name):
                got, files = self.run_model(name)
                self.assertEqual(got["kind"], "boxes")
                beside = got[kind]
                boat = [c["AP"] for c in beside["categories"] if c["name"] == "boat"]
                self.assertGreater(boat[0], 0.25)
                again = self.scores(files, option)
                self.assertEqual(again["summary"], beside["summary"])
                by_run = self.dir / "run.json"
                self.succeed("run", "-q", "-m", HARBOUR / name, HARBOUR / "photo.jpg", "--preset",
                             "ultralytics-val", "--coco", by_run, "--coco-gt", files[1])
                again = self.scores(["--gt", files[1], "--detections", by_run], option)
                self.assertEqual(again["summary"], beside["summary"])

    def test_what_a_model_does_not_give_is_refused(self):
        gt = self.write("truth.json", photo_truth())
        for name, option, what in (("harbour_obb.onnx", "--keypoints", "keypoints"),
                                   ("harbour_pose.onnx", "--rotated", "rotated boxes"),
                                   ("harbour.onnx", "--classes", "classes of images"),
                                   ("harbour_cls.onnx", "--masks", "masks")):
            text = self.fail_with(1, "val", "--gt", gt, "--model", HARBOUR / name, "--images",
                                  HARBOUR, option, says=f"gives no {what}")
            self.assertIn(f"{option}: ", text)

    def test_a_folder_for_each_class(self):
        for name in LIGHTS:
            (self.dir / "lights" / name).mkdir(parents=True)
            shutil.copy(HARBOUR / "photo.jpg", self.dir / "lights" / name)
        got = self.scores(["--gt", self.dir / "lights", "--model", HARBOUR / "harbour_cls.onnx"])
        self.assertEqual((got["kind"], got["images"], got["detections"]), ("classes", 9, 45))
        # One image in nine folders: one of them is right, and five are among the best five.
        self.assertAlmostEqual(got["summary"]["top1"], 1 / 9)
        self.assertAlmostEqual(got["summary"]["top5"], 5 / 9)

    def test_images_of_a_file_have_classes(self):
        truth = {"images": [{"id": 1, "file_name": "photo.jpg"}],
                 "categories": [{"id": i + 1, "name": name} for i, name in enumerate(LIGHTS)],
                 "annotations": [of(1, 2)]}
        gt, out = self.write("truth.json", truth), self.dir / "found.json"
        got = self.scores(["--gt", gt, "--model", HARBOUR / "harbour_cls.onnx", "--images",
                           HARBOUR, "--out", out])
        self.assertEqual(len(self.read_json(out)), 5)
        by_run = self.dir / "run.json"
        self.succeed("run", "-q", "-m", HARBOUR / "harbour_cls.onnx", HARBOUR / "photo.jpg",
                     "--preset", "ultralytics-val", "--coco", by_run, "--coco-gt", gt)
        self.assertEqual(self.scores(["--gt", gt, "--detections", by_run], "--classes"), got)
        self.assertEqual(self.scores(["--gt", gt, "--detections", out], "--classes"), got)


if __name__ == "__main__":
    unittest.main()
