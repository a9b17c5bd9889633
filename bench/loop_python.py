#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a detector on image files in one run, program by program in turn, reading included:

    PYTHONPATH=build/python bench/loop_python.py MODEL IMAGES [--engine openvino] [--turns 9]
        [--frames 60] [--threads 0] [--ultralytics PYTHON] [--json FILE]

- halyard:     halyard.Model(file), the call as a whole, with conf 0.25 and iou 0.45
- opencv:      the loop of tools/halyard/bench/opencv_loop.py: imread, letterbox, blobFromImage,
               the engine's Python package, NMSBoxes
- ultralytics: YOLO(model)(file), by the Python that --ultralytics names; its predictor runs .onnx
               files in ONNX Runtime. Of the engine's own choice of threads

A turn runs all on the same frames, in an order that rotates; of each turn the median over the
frames is taken. Printed are medians over the turns in ms, the median of the turns' ratios to
halyard, and how many boxes are the same: one class, IoU of at least 0.8, in the first images.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/halyard/bench"))
from opencv_loop import Loop  # noqa: E402

SCORE, IOU = 0.25, 0.45
PREDICTOR = """
import json, os, sys, time
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # messages of others
from ultralytics import YOLO
task = json.loads(sys.stdin.readline())
model = YOLO(task["model"], task="detect")
line = dict(conf=task["score"], iou=task["iou"], imgsz=task["size"], verbose=False, device="cpu")
def see(file):
    start = time.perf_counter()
    found = model(file, **line)[0].boxes
    spent = (time.perf_counter() - start) * 1e3
    return spent, [[*box, score, kind] for box, score, kind in
                   zip(found.xyxy.tolist(), found.conf.tolist(), found.cls.int().tolist())]
print(json.dumps([see(file)[1] for file in task["images"]]), file=answers, flush=True)
for line_ in sys.stdin:
    times = [see(task["images"][i % len(task["images"])])[0] for i in range(int(line_))]
    print(json.dumps(times), file=answers, flush=True)
"""


class Ultralytics:
    """Ultralytics' predictor in a Python of its own."""

    def __init__(self, python, model, size, images):
        self.child = subprocess.Popen([python, "-c", PREDICTOR], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.boxes = self.ask(json.dumps({"model": model, "score": SCORE, "iou": IOU, "size": size,
                                          "images": images}))

    def ask(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


def overlap(a, b):
    width, height = (min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1))
    if width <= 0 or height <= 0:
        return 0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return width * height / (sum(areas) - width * height)


def count_same(ours, theirs):
    """Pairs of boxes of one class."""
    same = 0
    for mine, rest in zip(ours, map(list, theirs)):
        for box in mine:
            best = max((other for other in rest if other[5] == box[5]),
                       key=lambda other: overlap(box, other), default=None)
            if best is not None and overlap(box, best) >= 0.8:
                rest.remove(best)
                same += 1
    return same


def timed(see, images, count):
    times = []
    for i in range(count):
        start = time.perf_counter()
        see(images[i % len(images)])
        times.append((time.perf_counter() - start) * 1e3)
    return times


def programs(arguments, images):
    """Each program: the boxes of the images, and a function that times frames."""
    import halyard
    model = halyard.Model(arguments.model, engine=arguments.engine, threads=arguments.threads)

    def ours(file):
        found = model(file, conf=SCORE, iou=IOU)
        return [[*box, score, kind] for box, score, kind in
                zip(found.xyxy.tolist(), found.confidence.tolist(), found.class_id.tolist())]
    shape = arguments.size
    loop = Loop({"model": arguments.model, "engine": arguments.engine, "device": "CPU",
                 "threads": arguments.threads, "width": shape, "height": shape,
                 "planar": arguments.model.endswith(".onnx"), "input": None, "output": None,
                 "fraction": arguments.model.endswith(".tflite"), "score": SCORE, "iou": IOU,
                 "class_aware": True, "max_objects": 300})
    out = {
        "halyard": ([ours(file) for file in images],
                    lambda n: timed(lambda f: model(f, conf=SCORE, iou=IOU), images, n)),
        "opencv": ([loop.see(file)[0] for file in images],
                   lambda n: timed(loop.see, images, n))}
    if arguments.ultralytics:
        predictor = Ultralytics(arguments.ultralytics, arguments.model, shape, images)
        out["ultralytics"] = (predictor.boxes, lambda n: predictor.ask(str(n)))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("images", help="a folder of JPEG files, or one")
    parser.add_argument("--engine", default="openvino")
    parser.add_argument("--size", type=int, default=640, help="sides of the network's input")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--frames", type=int, default=60, help="of each turn and program")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--ultralytics", help="a Python that has ultralytics")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    path = pathlib.Path(arguments.images)
    images = [str(file) for file in (sorted(path.glob("*.jpg"))[:20] if path.is_dir() else [path])]
    all_programs = programs(arguments, images)
    turns = []
    for number in range(arguments.turns):
        names = list(all_programs)
        names = names[number % len(names):] + names[:number % len(names)]
        turns.append({name: statistics.median(all_programs[name][1](arguments.frames))
                      for name in names})
    rows, our_boxes = {}, all_programs["halyard"][0]
    for name, (boxes, _) in all_programs.items():
        ratios = [turn[name] / turn["halyard"] for turn in turns]
        rows[name] = {"ms": statistics.median(turn[name] for turn in turns),
                      "ratio": statistics.median(ratios), "min": min(ratios), "max": max(ratios),
                      "boxes": sum(map(len, boxes)), "same": count_same(our_boxes, boxes)}
        row = rows[name]
        print(f"{name:12}{row['ms']:9.3f} ms  ratio {row['ratio']:.2f} ({row['min']:.2f}.."
              f"{row['max']:.2f})  boxes {row['boxes']}, {row['same']} as halyard's")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps({"rows": rows, "turns": turns}) + "\n")


if __name__ == "__main__":
    main()
