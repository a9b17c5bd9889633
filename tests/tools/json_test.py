# SPDX-License-Identifier: Apache-2.0
"""What the program writes as JSON is what docs/json.schema.json says, and docs/json.md with it."""
import json
import re
import unittest

from masks_test import RED, write_png
from program import CLIP, MODEL, PICTURE, SOURCE, ProgramTest, needs_engine, npy
from segmentation_model import pose_model, segmentation_model
from val_test import harbour_truth

SCHEMA = json.loads((SOURCE / "docs" / "json.schema.json").read_text())
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}


def is_kind(value, name):
    return isinstance(value, KINDS[name]) and (isinstance(value, bool) == (name == "boolean"))


def problems(value, rule, path="$"):
    """What JSON Schema has against `value`, of the words that the schema uses."""
    unknown = rule.keys() - {"$ref", "description", "type", "const", "enum", "minimum", "maximum",
                             "items", "minItems", "maxItems", "properties", "required",
                             "additionalProperties", "oneOf", "anyOf"}
    if unknown:
        raise AssertionError(f"the schema has words that the test does not know: {unknown}")
    if "$ref" in rule:
        return problems(value, SCHEMA["$defs"][rule["$ref"].rsplit("/", 1)[1]], path)
    for word, wanted in (("oneOf", lambda n: n == 1), ("anyOf", lambda n: n >= 1)):
        if word in rule:
            found = [problems(value, each, path) for each in rule[word]]
            if not wanted(found.count([])):
                return [f"{path}: fits {found.count([])} of {word}"] + min(found, key=len)
            return []
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{path}: {value!r} is no {kinds}"]
    out = []
    if "const" in rule and value != rule["const"]:
        out.append(f"{path}: {value!r} is not {rule['const']!r}")
    if "enum" in rule and value not in rule["enum"]:
        out.append(f"{path}: {value!r} is none of {rule['enum']}")
    if is_kind(value, "number"):
        if value < rule.get("minimum", value) or value > rule.get("maximum", value):
            out.append(f"{path}: {value} is out of range")
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            out.append(f"{path}: {len(value)} items")
        for i, each in enumerate(value):
            out += problems(each, rule.get("items", {}), f"{path}[{i}]")
    if isinstance(value, dict):
        known, more = rule.get("properties", {}), rule.get("additionalProperties", {})
        out += [f"{path}.{key}: is missing" for key in rule.get("required", []) if key not in value]
        for key, each in value.items():
            if key in known:
                out += problems(each, known[key], f"{path}.{key}")
            elif more is False:
                out.append(f"{path}.{key}: is not in the schema")
            else:
                out += problems(each, more, f"{path}.{key}")
    return out


class JsonTest(ProgramTest):
    def hold(self, name, text):
        """A document of the schema's definition `name`, the number at its head."""
        document = json.loads(text)
        self.assertEqual(problems(document, SCHEMA["$defs"][name]), [])
        self.assertEqual(problems(document, {"anyOf": SCHEMA["anyOf"]}), [])
        self.assertEqual(next(iter(document)), "schema")
        return document


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
            rows = re.findall(r"(?m)^\| `(\w+)` \| .+ \| (where there is one: )?(.+) \|$",
                              tables[name])
            self.assertEqual([row[0] for row in rows], list(rule["properties"]), name)
            self.assertEqual([key for key, optional, _ in rows if not optional], rule["required"])
            for key, _, text in rows:
                self.assertTrue(text.startswith(rule["properties"][key].get("description", "")))


class Documents(JsonTest):
    def test_decode_info_and_doctor(self):
        values = self.dir / "x.npy"
        values.write_bytes(npy("<f4", (1, 6, 1), b"\0\0\x80\x3f" * 6))
        found = self.hold("run", self.succeed("decode", values, "--input-size", "64x64", "--json",
                                              "-"))
        self.assertEqual(len(found["frames"][0]["detections"]), 1)
        found = self.hold("info", self.succeed("info", "--json", PICTURE, MODEL))
        self.assertEqual([entry["type"] for entry in found["files"]], ["jpeg", "model"])
        self.hold("doctor", self.succeed("doctor", "--json"))

    def test_track_counts_and_scores(self):
        det = self.dir / "det.txt"
        det.write_text("".join(f"{n},{n},{100 + n},50,40,40,0.9,-1,-1,-1\n" for n in range(1, 9)))
        truth = self.dir / "gt.txt"
        truth.write_text(det.read_text().replace(",0.9,", ",1,"))
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

    def test_negotiations(self):
        example = next(SOURCE.glob("examples/**/camera_g2d.json"))
        self.hold("negotiate", self.succeed("negotiate", example, "--json"))
        self.hold("negotiate", self.succeed("negotiate", example, "--plan", "--json"))

    def test_val(self):
        truth, found = self.dir / "t.json", self.dir / "d.json"
        truth.write_text(json.dumps(harbour_truth(2)))
        found.write_text("[]")
        self.hold("val", self.succeed("val", "--gt", truth, "--detections", found, "--json", "-"))


@needs_engine
class Runs(JsonTest):
    def test_boxes_and_tracks(self):
        found = self.hold("run", self.succeed("run", "-m", MODEL, CLIP, "--track", "--json", "-"))
        self.assertTrue(any(d["track"] for f in found["frames"] for d in f["detections"]))

    def test_masks_and_keypoints(self):
        model, picture = self.dir / "m.onnx", self.dir / "p.png"
        write_png(picture, [[200, 40, 60] * 64 for _ in range(64)])
        model.write_bytes(segmentation_model([(32, 32, 48, 24, 0, 0.9, *RED)]))
        found = self.hold("run", self.succeed("run", "-m", model, picture, "--json", "-"))
        self.assertIn("segmentation", found["frames"][0]["detections"][0])
        model.write_bytes(pose_model([(32, 32, 16, 8, 0.9, [(30, 30, 0.8), (36, 34, 0.6)])]))
        found = self.hold("run", self.succeed("run", "-m", model, picture, "--json", "-"))
        self.assertEqual(len(found["frames"][0]["detections"][0]["keypoints"]), 2)


if __name__ == "__main__":
    unittest.main()
