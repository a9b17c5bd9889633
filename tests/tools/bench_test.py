# SPDX-License-Identifier: Apache-2.0
"""halyard bench: what it counts, engines with their reasons, and the loop that it compares with."""
import json
import os
import stat
import subprocess
import sys
import unittest

from json_schema import hold
from masks_test import RED
from program import CLIP, IMAGE, MODEL, SOURCE, ProgramTest, needs_engine
from segmentation_model import segmentation_model

FEW = ("--frames", "4", "--warm-up", "1", "--quiet")
STAGES = ["load", "convert", "model", "decode", "outside", "latency", "total"]


def python_with(*packages):
    """A Python of this machine that imports the packages, or None."""
    for path in (sys.executable, SOURCE / ".venv/bin/python3"):
        line = [path, "-c", "import " + ", ".join(packages)]
        if os.path.exists(path) and subprocess.run(line, capture_output=True).returncode == 0:
            return path
    return None


class BenchTest(ProgramTest):
    def bench(self, *args, code=0, **options):
        """The document of a run, and what it has printed on standard error."""
        done = self.run_program("bench", *args, "--json", "-", **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return hold(self, "bench", done.stdout.decode()), done.stderr.decode()

    def engine(self, document, name):
        return next(each for each in document["engines"] if each["name"] == name)


@needs_engine
class Measures(BenchTest):
    def test_both_runs_have_the_frames_and_stages_that_were_asked_for(self):
        found, _ = self.bench(MODEL, CLIP, "--in-flight", "3", "--engine", "openvino", *FEW)
        [engine] = found["engines"]
        self.assertEqual(engine["state"], "measured")
        self.assertEqual([run["in_flight"] for run in engine["runs"]], [1, 3])
        for run in engine["runs"]:
            self.assertEqual(run["frames"], 4)
            self.assertEqual([each["stage"] for each in run["stages"]], STAGES)
            self.assertEqual(run["copied_bytes_per_frame"], 0)
            self.assertGreater(run["objects_per_frame"], 1)
            times = {each["stage"]: each for each in run["stages"]}
            for each in times.values():
                self.assertLessEqual(each["p50_ms"], each["p90_ms"])
                self.assertLessEqual(each["p90_ms"], each["p99_ms"])
            parts = sum(times[name]["mean_ms"] for name in STAGES[1:5])
            self.assertAlmostEqual(parts, times["latency"]["mean_ms"], places=2)
            self.assertAlmostEqual(times["load"]["mean_ms"] + times["latency"]["mean_ms"],
                                   times["total"]["mean_ms"], places=2)
        self.assertEqual(found["input"], {"synthetic": False, "sources": [str(CLIP)], "width": 640,
                                          "height": 360, "format": "nv12"})
        self.assertGreater(found["machine"]["usable_processors"], 0)

    def test_without_inputs_the_images_are_synthetic_and_the_table_tells(self):
        found, _ = self.bench(MODEL, *FEW)
        self.assertEqual(found["input"], {"synthetic": True, "sources": [], "width": 320,
                                          "height": 320, "format": "rgb"})
        text = self.succeed("bench", MODEL, *FEW)
        self.assertIn("synthetic images, 320 x 320 rgb: nothing is read", text)
        for word in ("halyard ", " processors", "1 frame in flight: 4 frames",
                     "4 frames in flight: 4 frames", "p90", *STAGES):
            self.assertIn(word, text)

    def test_frames_end_the_run_or_the_time_does_and_inputs_repeat(self):
        found, _ = self.bench(MODEL, IMAGE, "--frames", "40", "--engine", "openvino", "--quiet")
        self.assertEqual([run["frames"] for run in found["engines"][0]["runs"]], [40, 40])
        found, _ = self.bench(MODEL, IMAGE, "--seconds", "0.2", "--engine", "openvino", "--quiet")
        for run in found["engines"][0]["runs"]:
            self.assertGreaterEqual(run["seconds"], 0.2)

    def test_tracking_is_a_stage(self):
        found, _ = self.bench(MODEL, CLIP, "--track", "--engine", "openvino", *FEW)
        self.assertEqual([each["stage"] for each in found["engines"][0]["runs"][1]["stages"]],
                         STAGES[:4] + ["track"] + STAGES[4:])

    def test_the_table_goes_to_the_terminal_where_json_goes_to_a_file(self):
        text = self.succeed("bench", MODEL, *FEW, "--json", self.dir / "b.json")
        self.assertIn("4 in flight", text)
        hold(self, "bench", (self.dir / "b.json").read_text())
        self.assert_only("b.json")


@needs_engine
class Engines(BenchTest):
    def test_all_are_listed_and_those_that_do_not_fit_do_not_fail(self):
        found, _ = self.bench(MODEL, *FEW, env=dict(os.environ, HALYARD_ONNXRUNTIME_DIR=""))
        names = [each["name"] for each in found["engines"]]
        self.assertEqual(names[:4], ["openvino", "onnxruntime", "tflite", "litert"])
        self.assertEqual(self.engine(found, "tflite")["state"], "unfit")
        self.assertEqual(self.engine(found, "litert")["reason"], "reads .tflite")

    def test_a_named_one_that_is_missing_fails_with_its_command(self):
        nowhere = dict(os.environ, HALYARD_ONNXRUNTIME_DIR=str(self.dir))
        found, text = self.bench(MODEL, "--engine", "onnxruntime", "--engine", "openvino", *FEW,
                                 code=1, env=nowhere)
        missing = self.engine(found, "onnxruntime")
        self.assertEqual((missing["state"], missing["install"], missing["runs"]),
                         ("missing", "pip install onnxruntime", []))
        self.assertEqual(self.engine(found, "openvino")["state"], "measured")
        self.assertIn("not all engines were measured", text)
        self.succeed("bench", MODEL, *FEW, env=nowhere)  # nobody has named it

    def test_one_that_needs_its_name_tells_it(self):
        model = self.write("m.tflite", b"no model")
        found, _ = self.bench(model, *FEW, code=1)
        litert = self.engine(found, "litert")
        if litert["state"] == "missing":
            self.skipTest("LiteRT is not here")
        self.assertEqual(litert["state"], "unnamed")
        self.assertIn("--engine litert", litert["reason"])

    def test_a_model_that_nobody_can_open_is_shown_with_reasons(self):
        model = self.write("broken.onnx", b"no model at all")
        found, text = self.bench(model, *FEW, code=1)
        self.assertEqual(self.engine(found, "openvino")["state"], "failed")
        self.assertNotEqual(self.engine(found, "openvino")["reason"], "")
        self.assertNotIn("input", found)
        self.assertIn("halyard: bench: not all engines were measured", text)


class Errors(BenchTest):
    def test_each_has_its_message(self):
        self.fail_with(2, "bench", says="model is required")
        self.fail_with(1, "bench", self.dir / "none.onnx", says="there is no such file")
        self.fail_with(1, "bench", self.write("m.pt"), says="was asked for reads .pt files")
        self.fail_with(2, "bench", MODEL, "--engine", "opnvino", says="did you mean openvino?")
        self.fail_with(2, "bench", MODEL, "-", says="it is read repeatedly")
        self.fail_with(2, "bench", MODEL, "--seconds", "0", says="is not seconds")
        self.fail_with(2, "bench", MODEL, "--compare", "opencw", says="did you mean opencv?")
        self.fail_with(2, "bench", MODEL, "--compare", "opencv", says="needs image files as inputs")
        self.fail_with(2, "bench", MODEL, "--json", MODEL, says="would overwrite")
        self.fail_with(1, "bench", MODEL, self.dir / "none.jpg", says="none.jpg")
        self.fail_with(1, "bench", MODEL, self.write("bad.jpg", b"\xff\xd8\xff"), says="bad.jpg")

    @needs_engine
    def test_damaged_images_among_others_are_told_once_and_fail_the_run(self):
        bad = self.write("bad.jpg", b"\xff\xd8\xff")
        found, text = self.bench(MODEL, bad, IMAGE, "--engine", "openvino", "--frames", "9",
                                 "--quiet", code=1)
        self.assertEqual(len(text.splitlines()), 1, text)
        self.assertIn("bad.jpg: JPEG header is cut short", text)
        self.assertEqual(found["engines"][0]["runs"][1]["frames"], 9)


@needs_engine
class Comparison(BenchTest):
    def compare(self, python, *args, code=1):
        found, text = self.bench(MODEL, *args, "--engine", "openvino", "--compare", "opencv",
                                 "--python", python, "--quiet", code=code)
        return found["engines"][0], text

    def fake_python(self, answer):
        path = self.write(f"python{len(answer)}",
                          f"#!/bin/sh\nread line\necho '{answer}'\nread line\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_a_python_that_is_missing_or_lacks_packages_says_so(self):
        for python, says in (
                (self.dir / "none", "there is no such program"),
                ("/bin/true", "ended without an answer"),
                (self.fake_python("no json"), "ended without an answer"),
                (self.fake_python(json.dumps({"python": 3})), "an answer of another form"),
                (self.fake_python(json.dumps({"error": "no cv2: pip install x"})),
                 "the loop cannot run: no cv2: pip install x")):
            engine, text = self.compare(python, IMAGE, *FEW)
            self.assertEqual(engine["state"], "measured")
            self.assertIn(says, engine["not_compared"])
            self.assertIn("halyard: --compare opencv: ", text)

    def test_a_head_that_the_loop_does_not_read_says_so(self):
        model = self.write("m.onnx", segmentation_model([(32, 32, 48, 24, 0, 0.9, *RED)]))
        done = self.run_program("bench", model, IMAGE, "--compare", "opencv", "--engine",
                                "openvino", *FEW)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the loop reads outputs of boxes as YOLOv8 has them, alone", done.stderr)

    def test_boxes_are_those_of_the_loop(self):
        python = python_with("cv2", "openvino")
        if python is None:
            self.skipTest("no Python here has cv2 and openvino")
        engine, _ = self.compare(python, self.first_frames(), "--seconds", "0.1", code=0)
        found = engine["comparison"]
        self.assertEqual(found["images"], 20)
        self.assertEqual([each["stage"] for each in found["stages"]], STAGES[:4] + ["total"])
        self.assertLessEqual(found["min_ratio"], found["ratio"])
        self.assertLessEqual(found["ratio"], found["max_ratio"])
        self.assertGreater(found["same_boxes"], 0.95 * found["our_boxes"])
        self.assertGreater(found["same_boxes"], 0.95 * found["their_boxes"])
        self.assertIn("times as long as Halyard",
                      self.succeed("bench", MODEL, IMAGE, "--engine", "openvino", "--compare",
                                   "opencv", "--python", python, "--seconds", "0.1", "--quiet"))


if __name__ == "__main__":
    unittest.main()
