# SPDX-License-Identifier: Apache-2.0
"""mAP of the ONNX detectors on held-out rendered scenes and on the clip.

Images go through the letterbox of augment.py; boxes are compared in image
pixels after mapping the detections back. Every file runs on ONNX Runtime and,
when it is installed, on OpenVINO.
"""

import argparse
import json
import os

import cv2
import numpy as np
import onnxruntime

from augment import letterbox
from metrics import detections, mean_ap, recall_by_size
from render import CLASSES, SEED_HELD_OUT, render_set

SIZES = (0, 14, 20, 30, 50, 100, 640)   # square root of the box area, image pixels


def ort_runner(path):
    """Function input [1,3,320,320] -> output0 on ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(["output0"], {"images": x})[0]


def openvino_runner(path):
    """The same on OpenVINO's CPU device, or None when it is not installed."""
    try:
        import openvino
    except ImportError:
        return None
    hint = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 2}
    compiled = openvino.Core().compile_model(path, "CPU", hint)
    return lambda x: compiled(x)[0]


def held_out(count, saved=None):
    """Images and truths [(boxes, classes)] of the held-out scenes.

    saved: prefix that `render.py held-out` wrote, to not render them again.
    """
    if saved:
        images = np.load(saved + ".npy", mmap_mode="r")[:count]
        with open(saved + ".json") as f:
            rows = json.load(f)[:count]
    else:
        images, rows = render_set(SEED_HELD_OUT, count)
    return images, [_truth(row, lambda c: c) for row in rows]


def clip(folder):
    """Images (decoded JPEGs) and truths of the clip."""
    with open(os.path.join(folder, "clip_truth.json")) as f:
        rows = json.load(f)["frames"]
    read = lambda name: cv2.imread(os.path.join(folder, name))[..., ::-1]
    return ([np.ascontiguousarray(read(r["file"])) for r in rows],
            [_truth(r["objects"], CLASSES.index) for r in rows])


def _truth(objects, index):
    return (np.array([o["box"] for o in objects], float).reshape(-1, 4),
            np.array([index(o["class"]) for o in objects], int))


def run(infer, images):
    """Detections (boxes in image pixels, scores, classes) of each image."""
    found = []
    for image in images:
        boxed, r, left, top = letterbox(np.asarray(image))
        x = np.ascontiguousarray(boxed.transpose(2, 0, 1))[None].astype(np.float32) / 255.0
        boxes, scores, classes = detections(np.asarray(infer(x))[0])
        boxes = (boxes - [left, top, left, top]) / r
        h, w = image.shape[:2]
        boxes[:, 0::2] = boxes[:, 0::2].clip(0, w)
        boxes[:, 1::2] = boxes[:, 1::2].clip(0, h)
        found.append((boxes, scores, classes))
    return found


def main():
    """Command line: prints one line per data set, file and runtime."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", help="ONNX files")
    parser.add_argument("--clip", help="folder with clip/ and clip_truth.json")
    parser.add_argument("--count", type=int, default=500, help="held-out scenes")
    parser.add_argument("--saved", help="prefix of the saved held-out set; else it is rendered")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    sets = {"held-out": held_out(args.count, args.saved)} if args.count else {}
    if args.clip:
        sets["clip"] = clip(args.clip)
    for label, (images, truths) in sets.items():
        kinds = np.concatenate([t[1] for t in truths])
        print(f"{label}: {len(images)} images, objects per class "
              f"{dict(zip(CLASSES, np.bincount(kinds, minlength=3).tolist()))}")
        for path in args.models:
            for name, make in (("onnxruntime", ort_runner), ("openvino", openvino_runner)):
                infer = make(path)
                if infer is None:
                    continue
                found = run(infer, images)
                result = mean_ap(found, truths, len(CLASSES))
                each = ", ".join(f"{c} {a:.3f}/{b:.3f}" for c, a, b in
                                 zip(CLASSES, result["ap50"], result["ap"]))
                print(f"  {os.path.basename(path):20s} {name:12s} mAP50 {result['map50']:.4f} "
                      f"mAP50-95 {result['map']:.4f} ({each})", flush=True)
                print("    recall at IoU 0.5, score 0.25, by size: " + ", ".join(
                    f"{lo}-{hi} px {r:.2f} ({n})" for lo, hi, n, r in
                    recall_by_size(found, truths, SIZES)), flush=True)


if __name__ == "__main__":
    main()
