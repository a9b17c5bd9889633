#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times EdgeFirst's wheels on the heads of bench/decode_bench.cpp, in turn with halyard_bench. Run
it with a Python that has the wheels, pinned to the cores to measure:

    pip install edgefirst-hal==0.28.3 edgefirst-tensor edgefirst-decoder numpy
    taskset -c 1 bench/decode_peers.py [--bench PROGRAM] [--turns N] [--json FILE]

Results are medians over the turns in microseconds. Ratios are the faster peer / ours, and ours /
reading the scores once. Detections are in brackets: EdgeFirst lets the best 300 boxes of
segmentation and of levels enter suppression and gives 100. It reads [1, 8400, 84] as 8400 features
of 84 boxes, so boxes first is not measured there.
"""
import argparse
import json
import os
import statistics
from pathlib import Path

os.environ.setdefault("EDGEFIRST_FORCE_BACKEND", "cpu")
os.environ.setdefault("RUST_LOG", "error")
import numpy as np  # noqa: E402
import turns  # noqa: E402

ANCHORS, CLASSES, K, GRID, BINS = 8400, 80, 32, 160, 16
FLOORS = {"f32": "floor_f32", "i8": "floor_i8", "seg_lazy": "floor_f32", "seg_masks": "floor_f32",
          "levels_i8": "floor_i8", "f32_boxes_first": "floor_f32", "i8_boxes_first": "floor_i8"}


def uniform(stream, i):
    """The numbers of decode_bench.cpp."""
    with np.errstate(over="ignore"):
        z = np.uint64(stream << 40) + (np.asarray(i).astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53


def head(objects, extra=0):
    u = uniform(10, np.arange((4 + CLASSES + extra) * ANCHORS)).reshape(-1, ANCHORS)
    out = np.concatenate([0.05 + 0.9 * u[:2], 0.02 + 0.28 * u[2:4], 0.05 * u[4:4 + CLASSES],
                          3.4 * u[4 + CLASSES:] - 1.7]).astype(np.float32)
    for box in range(12 * objects):
        thing, own = uniform(11, box // 12 * 8 + np.arange(8)), uniform(12, box * 8 + np.arange(8))
        at = int(ANCHORS * own[0])
        middle = np.concatenate([0.2 + 0.6 * thing[1:3], 0.05 + 0.25 * thing[3:5]])
        out[:4, at] = middle + 0.014 * (own[1:5] - 0.5)
        out[4 + int(CLASSES * thing[0]), at] = 0.4 + 0.55 * own[5]
    return out[None]


def to_i8(values):
    return np.clip(np.rint(values.astype(np.float64) * 255.0) - 128, -128, 127).astype(np.int8)


def levels():
    """[boxes, scores] of each level, channels last."""
    i = np.arange(ANCHORS * 4 * BINS)
    off = i % BINS - (2 + 4 * uniform(16, i // BINS))
    boxes = np.rint(60 - 12 * np.abs(off)).astype(np.int8).reshape(ANCHORS, 4 * BINS)
    scores = (-120 + np.rint(50 * uniform(17, np.arange(ANCHORS * CLASSES)))).astype(np.int8)
    scores[(scores.size * uniform(18, np.arange(480))).astype(int)] = 20
    out, first = [], 0
    for side in (80, 40, 20):
        cells = slice(first, first + side * side)
        out += [boxes[cells].reshape(1, side, side, -1),
                scores.reshape(ANCHORS, -1)[cells].reshape(1, side, side, -1)]
        first += side * side
    return out


def level_document():
    def part(kind, side, features):
        return {"name": f"{kind}{side}", "type": kind, "shape": [1, side, side, features],
                "dshape": [{"batch": 1}, {"height": side}, {"width": side},
                           {"num_features": features}], "dtype": "int8", "stride": 640 // side,
                "quantization": {"scale": 0.1, "zero_point": 0, "dtype": "int8"}}

    def whole(kind, count, axis, features, more):
        return {"name": kind, "type": kind, "shape": [1, count, ANCHORS],
                "dshape": [{"batch": 1}, {axis: count}, {"num_boxes": ANCHORS}],
                "outputs": [part(kind, side, features) for side in (80, 40, 20)], **more}
    return {"schema_version": 2, "input": {"shape": [1, 3, 640, 640], "dshape": [
        {"batch": 1}, {"num_features": 3}, {"height": 640}, {"width": 640}]}, "outputs": [
            whole("boxes", 4, "box_coords", 4 * BINS, {"encoding": "dfl"}),
            whole("scores", CLASSES, "num_classes", CLASSES,
                  {"activation_required": "sigmoid", "score_format": "per_class"})]}


def works(module, tensor_type, memory, nms):
    def tensor(array, quantization=None):
        out = tensor_type(list(array.shape), str(array.dtype), memory)
        out.from_numpy(np.ascontiguousarray(array))
        if quantization is not None:
            out.set_quantization_per_tensor(*quantization)
        return out

    def decoder(outputs):
        made = module.Decoder.new_from_outputs(outputs, 0.25, 0.45, nms)
        return made
    describe = module.Output.detection
    f32, wide = head(40), head(100, K)
    protos = (3.4 * uniform(15, np.arange(GRID * GRID * K)) - 1.7).astype(np.float32).reshape(
        1, GRID, GRID, K)
    def detect(array, quantized=False):
        output = describe(shape=list(array.shape))
        if quantized:
            output = output.with_quantization(1 / 255.0, -128)
        made, inputs = decoder([output]), [tensor(array)]
        return lambda: made.decode(inputs)

    def segment(lazy):
        made = decoder([describe(shape=[1, 4 + CLASSES + K, ANCHORS]),
                        module.Output.protos(shape=[1, GRID, GRID, K])])
        inputs = [tensor(wide), tensor(protos)]
        return (lambda: made.decode_proto(inputs)) if lazy else (lambda: made.decode(inputs))

    def per_scale():
        made = module.Decoder(level_document(), 0.25, 0.45, nms)
        inputs = [tensor(array, (0.1, 0)) for array in levels()]
        return lambda: made.decode(inputs)
    makers = {"f32": lambda: detect(f32), "i8": lambda: detect(to_i8(f32), True),
              "seg_lazy": lambda: segment(True), "seg_masks": lambda: segment(False),
              "levels_i8": per_scale}
    out = {}
    for row, make in makers.items():
        try:
            work = make()
            work()
            out[row] = work
        except BaseException as error:  # panics of a wheel derive from it
            print(f"{module.__name__}: {row}: {type(error).__name__}: {error}"[:160])
    return out


def peers():
    found = {}
    try:
        import edgefirst_hal as hal
        found["0.28.3"] = works(hal, hal.Tensor, hal.TensorMemory.MEM, hal.Nms.ClassAgnostic)
    except ImportError as error:
        print(f"peers: {error}")
    try:
        from edgefirst import decoder, image
        found["family"] = works(decoder, decoder.Tensor, image.TensorMemory.MEM,
                                decoder.Nms.ClassAgnostic)
    except ImportError as error:
        print(f"peers: {error}")
    return found


def program(path, rows):
    found = turns.program(path, "^decode/(" + "|".join(rows) + ")$")
    return {b["name"].split("/", 1)[1]: b for b in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[1] / "build/bench/halyard_bench"
    parser.add_argument("--bench", default=str(default))
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    modules = peers()
    lines = []
    for row, floor in FLOORS.items():
        times, found = {}, {}
        for _ in range(arguments.turns):
            for name, figures in program(arguments.bench, [row, floor]).items():
                role = "ours" if name == row else "floor"
                times.setdefault(role, []).append(figures["cpu_time"] / 1e3)
                if role == "ours":
                    found[role] = int(figures["found"])
            for role, made in modules.items():
                if row in made:
                    times.setdefault(role, []).append(turns.timed(made[row]))
        for role, made in modules.items():
            if row in made:
                found[role] = len(made[row]()[0])
        middle = {role: statistics.median(us) for role, us in times.items()}
        theirs = [us for role, us in middle.items() if role not in ("ours", "floor")]
        peer = min(theirs, default=None)
        cells = "  ".join(f"{role} {us:.1f}" + (f" ({found[role]})" if role in found else "")
                          for role, us in middle.items())
        print(f"{row:16s} {cells}  |  peer/ours {peer / middle['ours'] if peer else 0:.2f}  "
              f"ours/floor {middle['ours'] / middle['floor']:.2f}", flush=True)
        lines.append({"row": row, "found": found, **middle})
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
