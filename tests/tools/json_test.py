# SPDX-License-Identifier: Apache-2.0
"""What the program writes as JSON is what docs/json.schema.json says, and docs/json.md with it."""
import json
import re
import unittest

from json_schema import SCHEMA, hold, problems
from masks_test import RED, write_png
from program import MODEL, IMAGE, SOURCE, ProgramTest, needs_engine, npy
from segmentation_model import pose_model, segmentation_model
from val_test import harbour_truth


def type_text(rule):
    """The type of a key as the page writes it."""
    for word in ("oneOf", "anyOf"):
        if word in rule:
            return ", ".join(type_text(each) for each in rule[word])
    if "$ref" in rule:
        name = rule["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name})"
    if rule["type"] == "array":
        return "list of " + type_text(rule["items"])
    if rule["type"] == "object" and isinstance(rule.get("additionalProperties"), dict):
        return "object of " + type_text(rule["additionalProperties"])
    return " or ".join(rule["type"]) if isinstance(rule["type"], list) else rule["type"]


class JsonTest(ProgramTest):
    def hold(self, name, text):
        return hold(self, name, text)


class Schema(JsonTest):
    def test_the_check_can_fail(self):
        good = {"schema": 1, "frames": []}
        self.assertEqual(problems(good, SCHEMA["$defs"]["run"]), [])
        for wrong in ({"frames": []}, {"schema": 2, "frames": []}, {"schema": True, "frames": []},
                      good | {"more": 1}, good | {"frames": [{}]}, good | {"frames": None}, []):
            self.assertNotEqual(problems(wrong, SCHEMA["$defs"]["run"]), [], wrong)

    def test_the_page_has_a_row_for_every_key(self):
        page = (SOURCE / "docs" / "json.md").read_text()
        tables = dict(re.findall(r"(?ms)^### (\w+)\n(.*?)(?=^### |\Z)", page))
        self.assertEqual(tables.keys(), SCHEMA["$defs"].keys())
        for name, rule in SCHEMA["$defs"].items():
            rows = re.findall(r"(?m)^\| `([\w.]+)` \| (.+) \| (where there is one: )?(.+) \|$",
                              tables[name])
            self.assertEqual([row[0] for row in rows], list(rule["properties"]), name)
            self.assertEqual([row[0] for row in rows if not row[2]], rule["required"])
            for key, kind, _, text in rows:
                known = rule["properties"][key]
                self.assertEqual(kind, type_text(known), f"{name}.{key}")
                self.assertTrue(text.startswith(known.get("description", "")))

    def test_no_definition_lets_other_keys_through(self):
        for name, rule in SCHEMA["$defs"].items():
            self.assertIs(rule.get("additionalProperties"), False, name)


class Documents(JsonTest):
    def test_decode_info_and_doctor(self):
        values = self.write("x.npy", npy("<f4", (1, 6, 1), b"\0\0\x80\x3f" * 6))
        found = self.hold("run", self.succeed("decode", values, "--input-size", "64x64", "--json",
                                              "-"))
        self.assertEqual(len(found["frames"][0]["detections"]), 1)
        found = self.hold("info", self.succeed("info", "--json", IMAGE, MODEL))
        self.assertEqual([entry["type"] for entry in found["files"]], ["jpeg", "model"])
        self.hold("doctor", self.succeed("doctor", "--json"))

    def test_track_counts_and_scores(self):
        det = self.write("det.txt",
                         "".join(f"{n},{n},{100 + n},50,40,40,0.9,-1,-1,-1\n" for n in range(1, 9)))
        truth = self.write("gt.txt", det.read_text().replace(",0.9,", ",1,"))
        found = self.hold("track", self.succeed("track", "--mot", det, "--json", "-"))
        self.assertEqual((found["frames"], found["detections"], found["tracks"]), (8, 8, 1))
        self.assertNotIn("scores", found)
        out = self.dir / "o.json"
        text = self.succeed("track", "--mot", det, "--gt", truth, "--json", out)
        found = self.hold("track", out.read_text())
        self.assertIn(f"IDF1 {100 * found['scores']['IDF1']:.3f}", text)
        self.fail_with(2, "track", "--mot", det, "--json", det, says="would overwrite")

    def test_pools_and_topics_that_nobody_has(self):
        self.hold("pools", self.succeed("pool", "ls", "--json"))
        self.hold("topics", self.succeed("topic", "ls", "--json"))
        self.hold("garbage", self.succeed("pool", "gc", "--json"))
        self.hold("top", self.succeed("top", "--once", "--json", "--interval", "0.05"))

    def test_val(self):
        truth, found = self.dir / "t.json", self.dir / "d.json"
        truth.write_text(json.dumps(harbour_truth(2)))
        found.write_text("[]")
        self.hold("val", self.succeed("val", "--gt", truth, "--detections", found, "--json", "-"))


@needs_engine
class Runs(JsonTest):
    def test_boxes_and_tracks(self):
        found = self.hold("run", self.succeed("run", "-m", MODEL, self.first_frames(), "--track",
                                              "--json", "-"))
        self.assertTrue(any(d["track"] for f in found["frames"] for d in f["detections"]))

    def test_bench(self):
        found = self.hold("bench", self.succeed("bench", MODEL, "--frames", "3", "--warm-up", "1",
                                                "--json", "-", "--quiet"))
        self.assertEqual(found["engines"][0]["name"], "openvino")

    def test_masks_and_keypoints(self):
        model, image = self.dir / "m.onnx", self.dir / "p.png"
        write_png(image, [[200, 40, 60] * 64 for _ in range(64)])
        model.write_bytes(segmentation_model([(32, 32, 48, 24, 0, 0.9, *RED)]))
        found = self.hold("run", self.succeed("run", "-m", model, image, "--json", "-"))
        self.assertIn("segmentation", found["frames"][0]["detections"][0])
        model.write_bytes(pose_model([(32, 32, 16, 8, 0.9, [(30, 30, 0.8), (36, 34, 0.6)])]))
        found = self.hold("run", self.succeed("run", "-m", model, image, "--json", "-"))
        self.assertEqual(len(found["frames"][0]["detections"][0]["keypoints"]), 2)


if __name__ == "__main__":
    unittest.main()
