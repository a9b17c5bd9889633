# SPDX-License-Identifier: Apache-2.0
"""Write masks, keypoints, rotated boxes and the light as ONNX, each a network of its own.

Interfaces are those of YOLOv8 exports: output0 [1, 4+C+16, 2100] with prototypes
output1 [1, 16, 160, 160]; [1, 4+1+9, 2100]; [1, 4+C+1, 2100]; [1, 9] probabilities. The SSD has
offsets [1, N, 4], logits
[1, N, 1+C] and priors [N, 4]; its metadata holds the document that says so.
"""

import argparse
import json
import os

import numpy as np
import onnx
from onnx import helper

from details import LIGHTS, POINTS
from export import METADATA, OnnxOps, decode, finish, levels_of
from net import (CLASSES, COEFS, SIZE, anchor_points, backbone, detect, head, light, neck, priors,
                 prototypes, ssd)

TOTAL = len(anchor_points()[1])
LIGHT_SIZE = 224


def described(task, text, **more):
    """Metadata of a network."""
    return {**METADATA, "task": task, "description": f"{text}, trained on rendered scenes", **more}


def pyramid(ops):
    """Maps at strides 2 and 4, and the levels of the neck."""
    p1, p2, *maps = backbone(ops, "images")
    return p1, p2, neck(ops, *maps)


def branch(ops, levels, name, channels):
    """One head on all levels as [1, channels, 2100]."""
    return levels_of(ops, [head(ops, k, name, x, channels) for k, x in enumerate(levels)],
                     channels, "decode." + name)


def masks(weights):
    """Boxes of three classes with coefficients, and prototypes."""
    ops = OnnxOps(weights)
    p1, p2, levels = pyramid(ops)
    decode(ops, detect(ops, levels), extra=branch(ops, levels, "coef", COEFS))
    proto = prototypes(ops, p1, p2, levels[0])
    ops.nodes.append(helper.make_node("Identity", [proto], ["output1"], name="decode.proto"))
    return finish(ops, {"output0": [1, 4 + CLASSES + COEFS, TOTAL],
                        "output1": [1, COEFS, SIZE // 2, SIZE // 2]},
                  described("segment", "Masks of boats, buoys and gulls"))


def keypoints(weights):
    """Boxes of boats with POINTS, each x, y, probability of being in the image."""
    weights = {k: v[..., :1] if ".cls2." in k else v for k, v in weights.items()}
    ops = OnnxOps(weights)
    levels = pyramid(ops)[2]
    count = len(POINTS)
    raw = branch(ops, levels, "point", 3 * count)
    raw = ops.reshape(raw, [1, count, 3, TOTAL], "decode.points")
    sizes = ops.const("decode.point_sizes", np.array([2, 1], np.int64))
    where, sure = ops.node("Split", [raw, sizes], outputs=2, name="decode.where", axis=2)
    points, strides = np.array(anchor_points()[0]), np.array(anchor_points()[1])
    double = ops.const("decode.doubles", (2.0 * strides)[None, None, None].astype(np.float32))
    base = ops.const("decode.bases", (points - 0.5 * strides[:, None]).T[None, None]
                     .astype(np.float32))
    where = ops.node("Add", [ops.node("Mul", [where, double], name="decode.spread"), base],
                     name="decode.place")
    sure = ops.node("Sigmoid", [sure], name="decode.sure")
    rows = ops.node("Concat", [where, sure], name="decode.rows", axis=2)
    decode(ops, detect(ops, levels, classes=1), classes=1,
           extra=ops.reshape(rows, [1, 3 * count, TOTAL], "decode.keypoints"))
    return finish(ops, {"output0": [1, 5 + 3 * count, TOTAL]},
                  described("pose", "Bow, stern and masthead of boats", names="{0: 'boat'}",
                            kpt_shape=f"[{count}, 3]"))


def rotated_boxes(weights):
    """Rotated boxes of three classes; the angle in radians is the last row."""
    ops = OnnxOps(weights)
    levels = pyramid(ops)[2]
    angle = ops.node("Sigmoid", [branch(ops, levels, "angle", 1)], name="decode.part")
    angle = ops.node("Sub", [angle, ops.const("decode.quarter", np.array(0.25, np.float32))],
                     name="decode.less")
    angle = ops.node("Mul", [angle, ops.const("decode.pi", np.array(np.pi, np.float32))],
                     name="decode.angle_rad")
    decode(ops, detect(ops, levels, "rbox", "rcls"), angle=angle)
    return finish(ops, {"output0": [1, 5 + CLASSES, TOTAL]},
                  described("obb", "Rotated boxes of boats, buoys and gulls"))


def lights(weights):
    """Probabilities of the light of the image."""
    ops = OnnxOps(weights)
    logits = ops.reshape(light(ops, "images"), [1, len(LIGHTS)], "decode.logits")
    ops.nodes.append(helper.make_node("Softmax", [logits], ["output0"], name="decode.probs",
                                      axis=1))
    names = str(dict(enumerate(LIGHTS)))
    return finish(ops, {"output0": [1, len(LIGHTS)]},
                  described("classify", "Light of a harbour", names=names,
                            imgsz=f"[{LIGHT_SIZE}, {LIGHT_SIZE}]"), LIGHT_SIZE)


def ssd_document(count):
    """The description of the SSD's outputs, as Halyard reads it."""
    boxes, batch = {"num_boxes": count}, {"batch": 1}
    output = lambda name, shape, axes, **more: {"name": name, "type": name, "decoder": "ssd",
                                                "shape": shape, "dshape": axes,
                                                "dtype": "float32", **more}
    return json.dumps({"schema_version": 2, "nms": "class_aware", "outputs": [
        output("boxes", [1, count, 4], [batch, boxes, {"box_coords": 4}], encoding="prior",
               normalized=True),
        output("scores", [1, count, 1 + CLASSES], [batch, boxes, {"num_classes": 1 + CLASSES}],
               activation_required="softmax"),
        output("priors", [count, 4], [boxes, {"box_coords": 4}])]})


def single_shot(weights):
    """Offsets of priors and logits of three classes and the background, and the priors."""
    ops = OnnxOps(weights)
    table = np.array(priors(), np.float32)
    for name, maps, size in zip(("boxes", "scores"), ssd(ops, pyramid(ops)[2]), (4, 1 + CLASSES)):
        rows = [ops.reshape(ops.node("Transpose", [x], name=f"decode.{name}.last{k}",
                                     perm=[0, 2, 3, 1]), [1, -1, size], f"decode.{name}.flat{k}")
                for k, x in enumerate(maps)]
        ops.nodes.append(helper.make_node("Concat", rows, [name], name="decode." + name, axis=1))
    ops.nodes.append(helper.make_node("Identity", [ops.const("decode.table", table)], ["priors"],
                                      name="decode.priors"))
    return finish(ops, {"boxes": [1, len(table), 4], "scores": [1, len(table), 1 + CLASSES],
                        "priors": list(table.shape)},
                  described("detect", "Harbour SSD (boat, buoy, gull)",
                            **{"edgefirst.json": ssd_document(len(table))}))


KINDS = {"ssd": single_shot, "seg": masks, "pose": keypoints, "obb": rotated_boxes, "cls": lights}


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", help=".npz of train_heads.py, train_ssd.py or train_light.py")
    parser.add_argument("folder", help="where harbour_KIND.onnx are written")
    parser.add_argument("kinds", nargs="+", choices=list(KINDS))
    args = parser.parse_args()
    weights = dict(np.load(args.weights))
    for kind in args.kinds:
        path = os.path.join(args.folder, f"harbour_{kind}.onnx")
        onnx.save(KINDS[kind](weights), path)
        print(f"wrote {path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
