#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times EdgeFirst's wheels on the masks and class maps of bench/mask_bench.cpp, in turn with
halyard_bench. Run it with a Python that has the wheels, pinned to the cores to measure:

    pip install edgefirst-hal==0.28.3 edgefirst-tensor edgefirst-image edgefirst-decoder numpy
    taskset -c 1 bench/mask_peers.py [--bench PROGRAM] [--turns N] [--json FILE]

Results are medians over the turns in microseconds. Ratios are the faster peer / the first of ours
in ROWS, which does the same as the peer. `on` counts set pixels and `sum` adds class ids: they
agree if the masks and maps do.
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

GRID, K, MASKS, ANCHORS, CLASSES, SIDE = 160, 32, 100, 8400, 150, 128
ROWS = {"proto": ["f32/hwc_proto"], "scaled 640": ["f32/hwc_640"],
        "draw 1080p rgba": ["draw_masks/rgba_cleared", "draw_masks/rgba_copied",
                            "draw_masks/rgba", "draw_masks/rgb", "draw_set/rgba",
                            "draw_floor/rgba", "draw_floor_boxes"],
        "draw 1080p nv12": ["draw_masks/nv12", "draw_set/nv12", "draw_floor/nv12"],
        "street accurate": ["semantic/street_accurate"], "street fast": ["semantic/street_fast"],
        "puzzle accurate": ["semantic/puzzle_accurate"],
        "noise accurate": ["semantic/noise_accurate"]}


def uniform(stream, i):
    """The numbers of mask_bench.cpp."""
    with np.errstate(over="ignore"):
        z = np.uint64(stream << 40) + (i.astype(np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0 ** -53


def normal(stream, count):
    i = np.arange(count, dtype=np.uint64)
    total = sum(uniform(stream, np.uint64(4) * i + np.uint64(k)) for k in range(4))
    return (total - 2) * np.sqrt(3.0)


def head():
    """[1, 116, 8400] with 100 anchors above the threshold, and prototypes [1, 160, 160, 32]."""
    u = uniform(1, np.arange(4 * MASKS)).reshape(MASKS, 4)
    boxes = np.concatenate([0.2 + 0.6 * u[:, :2], 0.05 + 0.25 * u[:, 2:]], 1)
    out = np.zeros((1, 4 + 80 + K, ANCHORS), np.float32)
    out[0, :4, :MASKS] = boxes.T
    out[0, 4, :MASKS] = 0.9 - 0.001 * np.arange(MASKS)
    out[0, 84:, :MASKS] = normal(3, MASKS * K).reshape(MASKS, K).T
    return out, normal(2, GRID * GRID * K).reshape(1, GRID, GRID, K).astype(np.float32)


def scene(kind):
    noise, waves, handicap = {"street": (0.05, 2, 8), "puzzle": (0.05, 6, 0),
                              "noise": (4, 6, 0)}[kind]
    i = np.arange(SIDE * SIDE)
    x, y = (i % SIDE) / SIDE, (i // SIDE) / SIDE
    u = uniform(4, np.arange(3 * CLASSES)).reshape(CLASSES, 3)
    scores = 4 * np.sin(6.28 * waves * (u[:, :1] * x + u[:, 1:2] * y) + 6.28 * u[:, 2:])
    scores -= handicap * uniform(6, np.arange(CLASSES))[:, None]
    scores += noise * normal(5, CLASSES * SIDE * SIDE).reshape(CLASSES, -1)
    return scores.astype(np.float32).reshape(1, CLASSES, SIDE, SIDE)


def tensor(kind, memory, array):
    out = kind(list(array.shape), str(array.dtype), memory)
    out.from_numpy(np.ascontiguousarray(array))
    return out


def mask_work(decoder, image, kind):
    out, protos = head()
    shapes = [decoder.Output.detection(shape=[1, 84 + K, ANCHORS]),
              decoder.Output.protos(shape=[1, GRID, GRID, K])]
    made = decoder.Decoder.new_from_outputs(shapes, 0.25, 1.0)
    memory = image.TensorMemory.MEM
    outputs = [tensor(kind, memory, out), tensor(kind, memory, protos)]
    found = made.decode_proto(outputs)
    assert len(found[0]) == MASKS, len(found[0])
    processor = image.ImageProcessor()
    proto, scaled = image.MaskResolution.Proto(), image.MaskResolution.Scaled(640, 640)
    canvas = processor.create_image(1920, 1080, image.PixelFormat.Rgba, "uint8")
    works = {"proto": lambda: processor.materialize_masks(*found, resolution=proto),
             "scaled 640": lambda: processor.materialize_masks(*found, resolution=scaled)}
    # Only 0.28.3 draws in this way; it also decodes and clears the image, and draws outlines.
    if hasattr(processor, "draw_masks"):
        works["draw 1080p rgba"] = lambda: processor.draw_masks(made, outputs, canvas, opacity=0.5)
    return works


def semantic_work(decoder, memory):
    config = {"schema_version": 2, "input": {"shape": [1, 3, 512, 512]}, "outputs": [
        {"name": "logits", "type": "segmentation", "decoder": "semantic",
         "shape": [1, CLASSES, SIDE, SIDE], "dtype": "float32",
         "dshape": [{"batch": 1}, {"num_classes": CLASSES}, {"height": SIDE}, {"width": SIDE}]}]}
    made = decoder.Decoder(config)
    scores = {kind: [tensor(decoder.Tensor, memory, scene(kind))]
              for kind in ("street", "puzzle", "noise")}
    out = decoder.Tensor([512, 512], "uint8", memory)
    modes = decoder.DecodeMode

    def work(kind, mode):
        def run():
            made.decode_semantic(scores[kind], out, mode=mode)
            return out
        return run
    return {"street accurate": work("street", modes.Accurate),
            "street fast": work("street", modes.Fast),
            "puzzle accurate": work("puzzle", modes.Accurate),
            "noise accurate": work("noise", modes.Accurate)}


def peers():
    found = {}
    try:
        import edgefirst_hal
        found["hal"] = mask_work(edgefirst_hal, edgefirst_hal, edgefirst_hal.Tensor)
    except ImportError as error:
        print(f"peers: {error}")
    try:
        from edgefirst import decoder, image
        found["family"] = mask_work(decoder, image, decoder.Tensor) | \
            semantic_work(decoder, image.TensorMemory.MEM)
    except ImportError as error:
        print(f"peers: {error}")
    return found


def program(path, names):
    found = turns.program(path, "^(" + "|".join(names) + ")$")
    return {f"ours {b['name']}": b for b in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(__file__).resolve().parents[1] / "build/bench/halyard_bench"
    parser.add_argument("--bench", default=str(default))
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    modules = peers()
    rows = []
    for row, names in ROWS.items():
        times, counters = {}, {}
        for _ in range(arguments.turns):
            for name, figures in program(arguments.bench, names).items():
                times.setdefault(name, []).append(figures["real_time"] / 1e3)
                counters[name] = {k: figures[k] for k in ("on", "sum") if k in figures}
            for role, works in modules.items():
                if row in works:
                    times.setdefault(role, []).append(turns.timed(works[row]))
        for role, works in modules.items():
            if row in works and row.split()[-1] in ("accurate", "fast"):
                with works[row]().map() as view:
                    counters[role] = {"sum": int(np.frombuffer(view, np.uint8).sum(dtype=int))}
            elif row in works and not row.startswith("draw"):
                counters[role] = {"on": sum(int(np.count_nonzero(m)) for m in works[row]())}
        medians = {name: statistics.median(us) for name, us in times.items()}
        ours = medians["ours " + names[0]]
        theirs = [us for name, us in medians.items() if not name.startswith("ours")]
        ratio = f"  |  peer/ours {min(theirs) / ours:.2f}" if theirs else ""
        cells = "  ".join(f"{name} {us:.0f} us {counters.get(name, '')}"
                          for name, us in medians.items())
        print(f"{row:20s} {cells}{ratio}", flush=True)
        rows.append({"row": row, **medians})
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
