# SPDX-License-Identifier: Apache-2.0
"""The loop that people write around a detector with OpenCV and an engine's Python package: imread,
letterbox, blobFromImage, infer, NMSBoxes. The program `halyard` compiles this file in and runs it
for `bench --compare opencv`; bench/loop_python.py imports it.

As a program it reads a task as one line of JSON from standard input and answers with what it
found; then for each line, a count of frames, it answers with their times. An answer is one line:

    task   {"model", "engine", "device", "threads", "width", "height", "planar", "input", "output",
            "fraction", "score", "iou", "class_aware", "max_objects", "images"}
    found  {"python", "opencv", "engine", "boxes": [[[x1, y1, x2, y2, score, class], ...], ...]}
    times  {"load": [ms, ...], "convert": [...], "model": [...], "decode": [...]}
    {"error": text} instead of each of them

"input" and "output" are null, or {"dtype", "scale", "zero_point"} of an integer tensor.
"""
import json
import platform
import sys
import time

STAGES = ("load", "convert", "model", "decode")


class Unusable(Exception):
    """The loop cannot run; the text tells why, and what to do."""


def load_packages(engine):
    """cv2, numpy and the engine's package. Raises Unusable."""
    try:
        import cv2
        import numpy
    except ImportError as error:
        raise Unusable(f"{error}: pip install opencv-python-headless") from error
    try:
        return cv2, numpy, __import__(engine)
    except ImportError as error:
        raise Unusable(f"{error}: pip install {engine}") from error


class Openvino:
    """The model on OpenVINO, for one run at a time, in single precision as Halyard's."""

    def __init__(self, openvino, task):
        settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
        if task["threads"]:
            settings["INFERENCE_NUM_THREADS"] = task["threads"]
        self.name = "openvino " + openvino.__version__.split("-")[0]
        self.model = openvino.Core().compile_model(task["model"], task["device"], settings)

    def run(self, blob):
        return self.model(blob)[0]


class Onnxruntime:
    """The model on ONNX Runtime."""

    def __init__(self, onnxruntime, task):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = task["threads"]
        self.name = "onnxruntime " + onnxruntime.__version__
        self.session = onnxruntime.InferenceSession(
            task["model"], options, providers=[task["device"] + "ExecutionProvider"])
        self.input = self.session.get_inputs()[0].name

    def run(self, blob):
        return self.session.run(None, {self.input: blob})[0]


ENGINES = {"openvino": Openvino, "onnxruntime": Onnxruntime}


class Loop:
    """Finds the objects of images, one image after the other."""

    def __init__(self, task):
        if task["engine"] not in ENGINES:
            raise Unusable(f"there is no such loop for {task['engine']}: only for "
                           + ", ".join(ENGINES))
        self.cv2, self.numpy, package = load_packages(task["engine"])
        self.task = task
        self.engine = ENGINES[task["engine"]](package, task)

    def convert(self, image):
        """The network's input, and how the image lies in it: scale, left, top."""
        cv2, task = self.cv2, self.task
        rows, columns = image.shape[:2]
        scale = min(task["width"] / columns, task["height"] / rows)
        width, height = max(round(columns * scale), 1), max(round(rows * scale), 1)
        left, top = (task["width"] - width) // 2, (task["height"] - height) // 2
        if (width, height) != (columns, rows):
            image = cv2.resize(image, (width, height), interpolation=cv2.INTER_LINEAR)
        image = cv2.copyMakeBorder(image, top, task["height"] - height - top, left,
                                   task["width"] - width - left, cv2.BORDER_CONSTANT,
                                   value=(114, 114, 114))
        if task["planar"]:
            blob = cv2.dnn.blobFromImage(image, 1 / 255, swapRB=True)
        else:
            blob = cv2.cvtColor(image, cv2.COLOR_BGR2RGB)[None].astype(self.numpy.float32) / 255
        if task["input"]:
            levels = blob / task["input"]["scale"] + task["input"]["zero_point"]
            blob = self.numpy.round(levels).astype(task["input"]["dtype"])
        return blob, (scale, left, top)

    def decode(self, output, placed, size):
        """Boxes of the image of this size: corners, score, class; best first."""
        cv2, numpy, task = self.cv2, self.numpy, self.task
        rows = numpy.squeeze(output).T
        if task["output"]:
            rows = (rows.astype(numpy.float32) - task["output"]["zero_point"]) \
                * task["output"]["scale"]
        scores = rows[:, 4:]
        classes = scores.argmax(1)
        best = scores[numpy.arange(len(scores)), classes]
        kept = best >= task["score"]
        boxes, best, classes = rows[kept, :4].copy(), best[kept], classes[kept]
        if task["fraction"]:
            boxes *= (task["width"], task["height"], task["width"], task["height"])
        boxes[:, :2] -= boxes[:, 2:] / 2
        if len(boxes) == 0:
            return []
        chosen = cv2.dnn.NMSBoxesBatched(boxes, best, classes, task["score"], task["iou"]) \
            if task["class_aware"] else cv2.dnn.NMSBoxes(boxes, best, task["score"], task["iou"])
        chosen = numpy.array(chosen).reshape(-1)[:task["max_objects"]]
        boxes, (scale, left, top) = boxes[chosen], placed
        boxes[:, 2:] += boxes[:, :2]
        boxes = (boxes - (left, top, left, top)) / scale
        boxes = boxes.clip(0, (size[1], size[0], size[1], size[0]))
        return [[*box, score, kind] for box, score, kind in
                zip(boxes.tolist(), best[chosen].tolist(), classes[chosen].tolist())]

    def see(self, file):
        """The objects of an image file, and the milliseconds of each stage."""
        marks = [time.perf_counter()]

        def done(value):
            marks.append(time.perf_counter())
            return value
        image = done(self.cv2.imread(file))
        if image is None:
            raise Unusable(f"cv2.imread does not read {file}")
        blob, placed = done(self.convert(image))
        output = done(self.engine.run(blob))
        boxes = done(self.decode(output, placed, image.shape))
        return boxes, [(end - start) * 1e3 for start, end in zip(marks, marks[1:])]


def answer(work):
    """Prints what `work` returns; returns whether that is no error."""
    try:
        out = work()
    except Unusable as error:
        out = {"error": str(error)}
    except Exception as error:  # of the engine: any type
        out = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    print(json.dumps(out), flush=True)
    return "error" not in out


def main():
    task = json.loads(sys.stdin.readline())
    loops = []

    def begin():
        loops.append(Loop(task))
        boxes = [loops[0].see(file)[0] for file in task["images"]]
        return {"python": platform.python_version(), "opencv": loops[0].cv2.__version__,
                "engine": loops[0].engine.name, "boxes": boxes}

    def measure(count):
        rows = [loops[0].see(task["images"][i % len(task["images"])])[1] for i in range(count)]
        return {name: list(column) for name, column in zip(STAGES, zip(*rows))}
    if not answer(begin):
        return
    for line in sys.stdin:
        if not answer(lambda: measure(int(line))):
            return


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
