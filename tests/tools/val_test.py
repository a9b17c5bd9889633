# SPDX-License-Identifier: Apache-2.0
"""halyard val: numbers that can be worked out by hand, and files that it refuses."""
import json
import unittest

from program import CLIP, HARBOUR, MODEL, ProgramTest, needs_engine

NAMES = ["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large", "AR_1", "AR_10", "AR_100",
         "AR_small", "AR_medium", "AR_large"]
IMAGES = [{"id": 5, "width": 200, "height": 100, "file_name": "a.jpg"},
          {"id": 2, "width": 200, "height": 100, "file_name": "b.jpg"}]
CATEGORIES = [{"id": 7, "name": "boat"}, {"id": 4, "name": "buoy"}]
BOX = [10, 10, 40, 40]  # medium


def seen(box=None, score=0.5, image=5, category=7, **more):
    return {"image_id": image, "category_id": category, "bbox": box or BOX, "score": score, **more}


def there(box=None, image=5, category=7, **more):
    box = box or BOX
    return {"image_id": image, "category_id": category, "bbox": box, "iscrowd": 0, **more}


class ValTest(ProgramTest):
    def files(self, annotations, results, images=None, categories=None):
        truth = {"images": images or IMAGES, "annotations": annotations,
                 "categories": categories or CATEGORIES}
        return ["--gt", self.write("truth.json", truth),
                "--detections", self.write("results.json", results)]

    def scores(self, annotations, results, *options):
        return self.succeed_json("val", *self.files(annotations, results), "--json", "-", *options)

    def summary(self, *args):
        return self.scores(*args)["summary"]


class Numbers(ValTest):
    def test_every_object_found_where_it_is_gives_one(self):
        got = self.summary([there(), there(image=2, category=4)],
                           [seen(), seen(image=2, category=4)])
        for name in NAMES:
            self.assertEqual(got[name], None if "small" in name or "large" in name else 1, name)

    def test_nothing_found_gives_zero(self):
        got = self.summary([there()], [])
        self.assertEqual((got["AP"], got["AR_100"], got["AP_small"]), (0, 0, None))

    def test_no_results_at_all_give_zero_where_there_is_something_to_find(self):
        self.assertEqual(set(self.summary([], []).values()), {None})
        self.assertEqual(self.summary([there(), there(image=2, category=4)], [])["AP"], 0)

    def test_ids_of_zero_are_ids_as_all_others(self):
        images, categories = [{**IMAGES[0], "id": 0}], [{"id": 0, "name": "boat"}]
        zero, far = {"image": 0, "category": 0}, [100, 10, 40, 40]
        files = self.files([there(**zero, id=0), there(far, **zero, id=1)],
                           [seen(score=0.9, **zero), seen(far, **zero)], images, categories)
        got = self.succeed_json("val", *files, "--json", "-")["summary"]
        self.assertEqual((got["AP"], got["AR_100"]), (1, 1))

    def test_annotations_without_an_id_count(self):
        self.assertEqual(self.summary([there()], [seen()])["AP"], 1)

    def test_an_overlap_of_two_thirds_counts_up_to_0_65(self):
        got = self.summary([there([0, 0, 40, 40])], [seen([0, 8, 40, 40])])  # 32 / 48
        self.assertAlmostEqual(got["AP"], 0.4)  # 0.50, 0.55, 0.60, 0.65
        self.assertEqual((got["AP50"], got["AP75"]), (1, 0))

    def test_a_false_one_with_the_best_score_halves_the_precision(self):
        got = self.summary([there()], [seen(), seen([100, 10, 40, 40], 0.9)])
        self.assertAlmostEqual(got["AP"], 0.5)
        self.assertEqual((got["AR_1"], got["AR_10"]), (0, 1))

    def test_the_second_one_at_an_object_is_false(self):
        got = self.summary([there(), there(image=2)], [seen(score=0.9), seen(score=0.8),
                                                       seen(score=0.7, image=2)])
        # Recall 1/2 at precision 1, recall 1 at 2/3: 51 and 50 of 101 steps.
        self.assertAlmostEqual(got["AP"], (51 + 50 * 2 / 3) / 101)

    def test_crowds_count_neither_way(self):
        crowd = there([0, 0, 200, 100], iscrowd=1)
        got = self.summary([there(), crowd], [seen(), seen([100, 50, 40, 40], 0.9),
                                              seen([150, 50, 40, 40], 0.8)])
        self.assertEqual(got["AP"], 1)

    def test_area_of_the_file_decides_on_the_size(self):
        got = self.summary([there(area=100)], [seen()])
        self.assertEqual((got["AP_small"], got["AP_medium"]), (1, None))

    def test_only_a_hundred_of_an_image_count(self):
        many = [seen([100, 10, 9, 9], 0.9) for _ in range(100)]
        self.assertEqual(self.summary([there()], many + [seen()])["AR_100"], 0)
        self.assertEqual(self.summary([there()], many[1:] + [seen()])["AR_100"], 1)

    def test_categories_are_averaged_and_listed(self):
        got = self.scores([there(), there(image=2, category=4)], [seen()])
        self.assertEqual(got["summary"]["AP"], 0.5)
        self.assertEqual(got["categories"], [{"id": 4, "name": "buoy", "AP": 0},
                                             {"id": 7, "name": "boat", "AP": 1}])

    def test_other_categories_are_left_out_and_said(self):
        files = self.files([there()], [seen(), seen(category=99, score=1)])
        table = self.succeed("val", *files, "--by-class")
        self.assertIn("boxes: 2 images, 1 annotations of 2 categories, 1 detections", table)
        self.assertIn("1 detections of other categories are left out", table)
        self.assertRegex(table, r"AP50 +1.0000 ")
        self.assertRegex(table, r"AP_small +- ")
        self.assertRegex(table, r"  boat +1.0000")

    def test_the_file_holds_what_is_printed(self):
        out = self.dir / "scores.json"
        table = self.succeed("val", *self.files([there()], [seen()]), "--json", out)
        self.assertIn("AR_100", table)
        self.assertEqual(self.read_json(out)["summary"]["AP"], 1)


SQUARE = [10, 10, 50, 10, 50, 50, 10, 50]
RUNS = [10 * 100 + 10] + [40, 60] * 39 + [40, 150 * 100 + 50]  # the same, columns of 100


class Masks(ValTest):
    def test_a_polygon_and_its_runs_are_the_same(self):
        found = seen(segmentation={"size": [100, 200], "counts": RUNS})
        got = self.summary([there(segmentation=[SQUARE])], [found], "--masks")
        self.assertEqual(got["AP"], 1)
        crowd = there(segmentation={"size": [100, 200], "counts": RUNS})
        self.assertEqual(self.summary([crowd], [found], "--masks")["AP"], 1)

    def test_overlap_is_that_of_pixels_and_not_of_boxes(self):
        half = [10 * 100 + 10] + [20, 80] * 39 + [20, 150 * 100 + 70]
        found = seen(segmentation={"size": [100, 200], "counts": half})
        got = self.summary([there(segmentation=[SQUARE])], [found], "--masks")
        self.assertEqual((got["AP50"], got["AP75"]), (1, 0))
        self.assertAlmostEqual(got["AP"], 0.1)

    def test_several_polygons_are_one_object(self):
        parts = [[10, 10, 30, 10, 30, 50, 10, 50], [20, 10, 50, 10, 50, 50, 20, 50]]
        found = seen(segmentation={"size": [100, 200], "counts": RUNS})
        self.assertEqual(self.summary([there(segmentation=parts)], [found], "--masks")["AP"], 1)

    def test_a_polygon_outside_the_image_is_nothing(self):
        away = [[-50, -50, -10, -50, -10, -10]]
        found = seen(segmentation={"size": [100, 200], "counts": RUNS})
        self.assertEqual(self.summary([there(segmentation=away)], [found], "--masks")["AP"], 0)

    def test_segmentations_are_checked(self):
        def refused(truth, found, says):
            files = self.files([there(segmentation=truth)], [seen(segmentation=found)])
            self.fail_with(1, "val", *files, "--masks", says=says)

        good = {"size": [100, 200], "counts": RUNS}
        refused([], good, "annotations[0].segmentation: must hold a polygon")
        refused([[1, 2, 3, 4]], good, "segmentation[0]: must be x, y of three points or more")
        refused([SQUARE, [1, 2, 3, 4, 5, "6"]], good, "segmentation[1][5]: must be a number")
        refused([[0, 0, 1e300, 0, 5, 5]], good, "segmentation[0]: its outline is longer")
        refused([[0, 0, 1e6, 0, 0, 0, 1e6, 0] * 9], good, "segmentation[0]: its outline is longer")
        refused("text", good, "segmentation: must be polygons, or size and counts")
        refused([SQUARE], [SQUARE], "[0].segmentation: must be an object with size and counts")
        refused([SQUARE], {"counts": RUNS}, "segmentation: must have size and counts")
        refused([SQUARE], {"size": [200, 100], "counts": RUNS}, "size: must be [100, 200]")
        refused([SQUARE], {"size": [100, 200], "counts": RUNS[:-1]}, "runs must fill the frame")
        refused([SQUARE], {"size": [100, 200], "counts": [-1, 20001]}, "counts[0]: must be")
        refused([SQUARE], {"size": [100, 200], "counts": [2 ** 32]}, "counts[0]: must be")
        refused([SQUARE], {"size": [100, 200], "counts": 5}, "counts: must be a text or an array")
        # Unfinished, no such character, too long, negative.
        for text, says in (("P", "must be characters"), ("0\u00e4", "must be characters"),
                           ("n" * 10, "must be characters"),
                           ("@", "a run is negative")):
            refused([SQUARE], {"size": [100, 200], "counts": text},
                    "segmentation.counts: " + says)

    def test_an_image_without_a_size_has_no_mask(self):
        images = [{"id": 5}, {"id": 2}]
        files = self.files([there(segmentation=[SQUARE])], [], images)
        self.fail_with(1, "val", *files, "--masks",
                       says="annotations[0].segmentation: needs the image's width and height")
        self.succeed("val", *files)


class Refusals(ValTest):
    def refused(self, annotations, results, says, **more):
        return self.fail_with(1, "val", *self.files(annotations, results, **more), says=says)

    def test_a_value_is_named_by_its_path_and_rule(self):
        path = self.dir / "truth.json"
        self.assertIn(f"--gt {path}", self.refused([{}], [], "annotations[0].image_id: is missing"))
        self.refused([there(), there(image=9)], [],
                     "annotations[1].image_id: 9 is not in the ground truth")
        self.refused([there(category=1)], [], "category_id: 1 is not in the ground truth")
        self.refused([there([1, 2, 3])], [], "bbox: must be [x, y, width, height]")
        self.refused([there([1, 2, -3, 4])], [], "bbox[2]: -3, must be at least 0")
        self.refused([there([1, 2, "3", 4], area=1)], [], "bbox[2]: must be a number")
        self.refused([there(area="big")], [], "annotations[0].area: must be a number")
        self.refused([there(iscrowd=[])], [], "iscrowd: must be 0 or 1")
        self.refused([5], [], "annotations[0]: must be an object")
        self.refused({}, [], "annotations: must be an array")

    def test_results_are_checked_alike(self):
        path = self.dir / "results.json"
        text = self.refused([there()], [seen(), {"image_id": 5}], "[1].category_id: is missing")
        self.assertIn(f"--detections {path}", text)
        self.refused([there()], [seen(image=1)], "[0].image_id: 1 is not in the ground truth")
        self.refused([there()], [seen(score=None)], "[0].score: must be a number")
        self.refused([there()], [seen(image=5.5)], "[0].image_id: must be an integer")
        self.refused([there()], [seen(image=2 ** 63)], "[0].image_id: must be an integer")
        self.refused([there()], {"annotations": []}, "must be an array")

    def test_images_and_categories_are_checked_alike(self):
        self.refused([], [], "images[0].id: is missing", images=[{}])
        self.refused([], [], "images[0].height: is missing", images=[{"id": 1, "width": 5}])
        self.refused([], [], "width: 0, must be 1..65535",
                     images=[{"id": 1, "width": 0, "height": 5}])
        self.refused([], [], "images: the id 1 occurs twice", images=[{"id": 1}, {"id": 1}])
        self.refused([], [], "categories: the id 4 occurs twice", categories=[{"id": 4}, {"id": 4}])
        self.refused([], [], "file_name: must be a text", images=[{"id": 1, "file_name": 3}])
        self.refused([], [], "categories[0].name: must be a text",
                     categories=[{"id": 1, "name": 3}])

    def test_a_broken_file_is_named_with_its_line(self):
        good = self.write("results.json", [])
        for text, says in (('{"images": [],\n "annotations" []}', "line 2"), ("", "line 1"),
                           ("[1e999]", "out of range"), ("[]", "must be an object"),
                           ("[" * 100000, "line 1"), ('{"images": []}', "categories: is missing")):
            truth = self.write("truth.json", text)
            self.fail_with(1, "val", "--gt", truth, "--detections", good, says=says)
        self.fail_with(1, "val", "--gt", self.dir / "none.json", "--detections", good,
                       says="none.json")

    def test_the_command_line_is_checked(self):
        gt = self.files([there()], [])[:2]
        results = self.dir / "results.json"
        self.fail_with(2, "val", *gt, says="one of --detections and --model")
        self.fail_with(2, "val", *gt, "--detections", results, "--model", "m.onnx",
                       says="one of --detections and --model")
        self.fail_with(2, "val", *gt, "--model", "m.onnx", "--preset", "other",
                       says="'other' is not ultralytics-val, ultralytics or hal")
        self.fail_with(2, "val", *gt, "--model", "m.onnx", "--mask-rule", "prototype",
                       says="'prototype' is not logits, ultralytics or ultralytics-quick")
        for option in ("--score", "--iou"):
            self.fail_with(2, "val", *gt, "--model", "m.onnx", option, "1.5", says=option)
        self.fail_with(2, "val", "--detections", results, says="--gt")
        self.fail_with(2, "val", *gt, "--detections", results, "--letterbox", "other",
                       says="'other' is not hal")


def harbour_truth(count=90):
    """Of the clip's first frames."""
    clip = json.loads((HARBOUR / "clip_truth.json").read_text())
    images, annotations = [], []
    for index, frame in enumerate(clip["frames"][:count]):
        name = frame["file"].split("/")[-1]
        images.append({"id": 100 + index, "file_name": name, "width": clip["width"],
                       "height": clip["height"]})
        for thing in frame["objects"]:
            x1, y1, x2, y2 = thing["box"]
            annotations.append(there([x1, y1, x2 - x1, y2 - y1], 100 + index,
                                     10 + clip["classes"].index(thing["class"])))
    categories = [{"id": 10 + i, "name": name} for i, name in enumerate(clip["classes"])]
    return {"images": images, "annotations": annotations, "categories": categories}


@needs_engine
class Model(ValTest):
    def run_harbour(self, truth, *options):
        path = self.write("truth.json", truth)
        return self.succeed_json("val", "--gt", path, "--model", MODEL, "--images", CLIP, "--json",
                                 "-", *options)

    def test_the_demo_s_scenes_are_measured_and_the_results_measure_the_same(self):
        truth = harbour_truth()
        out = self.dir / "found.json"
        got = self.run_harbour(truth, "--out", out)
        self.assertGreater(got["summary"]["AP50"], 0.72)
        self.assertGreater(got["summary"]["AP"], 0.42)
        self.assertLess(got["summary"]["AP"], got["summary"]["AP50"])
        self.assertEqual([c["name"] for c in got["categories"]], ["boat", "buoy", "gull"])
        self.assertEqual(self.succeed_json("val", "--gt", self.dir / "truth.json", "--detections",
                                           out, "--json", "-"), got)

    def test_classes_without_a_common_name_go_by_order(self):
        truth = harbour_truth()
        wanted = self.run_harbour(truth)["summary"]
        for category in truth["categories"]:
            category["name"] = "x" + category["name"]
        self.assertEqual(self.run_harbour(truth)["summary"], wanted)
        path = self.write("truth.json", truth | {"categories": truth["categories"] + [{"id": 99}]})
        self.fail_with(1, "val", "--gt", path, "--model", MODEL, "--images", CLIP,
                       says="none is the name of a category")

    def test_a_model_without_masks_says_so(self):
        truth = harbour_truth(5)
        path = self.write("truth.json", truth)
        text = self.fail_with(1, "val", "--gt", path, "--model", MODEL, "--images", CLIP, "--masks",
                              says="gives no masks")
        self.assertIn("--masks: ", text)
        # Segmentations that no model answers to do not matter.
        for thing in truth["annotations"]:
            x, y, w, h = thing["bbox"]
            thing["segmentation"] = [[x, y, x + w, y, x + w, y + h, x, y + h]]
        self.assertNotIn("masks", self.run_harbour(truth))

    def test_a_preset_sets_what_no_other_option_does(self):
        truth = harbour_truth(10)
        found = {}
        for name in ("ultralytics-val", "ultralytics", "hal"):
            found[name] = self.run_harbour(truth, "--preset", name)["detections"]
        self.assertGreater(found["ultralytics-val"], found["ultralytics"])
        self.assertGreater(found["ultralytics"], found["hal"])
        more = self.run_harbour(truth, "--preset", "hal", "--score", "0.25")["detections"]
        self.assertGreater(more, found["hal"])
        fewer = self.run_harbour(truth, "--iou", "0.2")["detections"]
        self.assertLess(fewer, found["ultralytics-val"])

    def test_an_image_that_is_missing_or_another_one_is_named(self):
        truth = harbour_truth()
        truth["images"][0]["width"] = 641
        path = self.write("truth.json", truth)
        self.fail_with(1, "val", "--gt", path, "--model", MODEL, "--images", CLIP,
                       says="frame_0000.jpg: is not the image of the ground truth: 640x360")
        self.fail_with(1, "val", "--gt", path, "--model", MODEL, "--images", self.dir,
                       says="frame_0000.jpg")


if __name__ == "__main__":
    unittest.main()
