# SPDX-License-Identifier: Apache-2.0
"""Write the ONNX networks as TFLite, float32 and int8, with the weights of the ONNX files.

Interfaces are those of Ultralytics' TFLite exports: input [1, S, S, 3] float32 RGB in 0..1,
boxes and keypoints as fractions of the input, prototypes [1, 160, 160, 16]; a ZIP archive at the
end holds the metadata. In the int8 file activations and weights are int8, calibrated on training
scenes; the last convolutions of the heads and what follows them stay in float, and so do the
input and the outputs.
"""

import argparse
import json
import os
import tempfile
import zipfile

import flatbuffers
import numpy as np
import onnx
import tensorflow as tf
from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import qtyping, quantizer

from augment import letterbox
from details import LIGHTS
from net import (BINS, CLASSES, COEFS, POINTS, SIZE, anchor_points, backbone, detect, head, light,
                 neck, priors, prototypes, ssd)
from render import SEED_TRAIN, render_still
from tf_ops import TfOps, flat
from train_heads import trunk_weights

BODY = ("CONV_2D", "ADD", "MUL", "LOGISTIC", "CONCATENATION", "MAX_POOL_2D", "SPLIT",
        "RESIZE_NEAREST_NEIGHBOR", "MEAN", "PAD")


class ExportOps(TfOps):
    """Interpreter that counts the last convolutions of the heads to the decode."""

    def conv(self, name, x, *args, plain=False, **more):
        """The same, in a scope."""
        with tf.name_scope("decode" if plain else "body"):
            return super().conv(name, x, *args, plain=plain, **more)


def grid():
    """Anchor centres [2100, 2] in pixels and strides [2100, 1]."""
    points, strides = anchor_points()
    return (np.array(points, np.float32), np.array(strides, np.float32)[:, None])


def sides(dist):
    """Distances to left and top, and to right and bottom, in pixels: [1, 2100, 2] each."""
    dist = tf.reduce_sum(tf.nn.softmax(dist) * np.arange(BINS, dtype=np.float32), -1) * grid()[1]
    return dist[..., :2], dist[..., 2:]


def upright(dist):
    """Boxes cx, cy, w, h as fractions."""
    low, high = sides(dist)
    return [(grid()[0] + (high - low) / 2) / SIZE, (low + high) / SIZE]


def rotated(dist, angle):
    """The same of boxes that lie at an angle in radians."""
    low, high = sides(dist)
    x, y = tf.split((high - low) / 2, 2, -1)
    c, s = tf.cos(angle), tf.sin(angle)
    moved = tf.concat([x * c - y * s, x * s + y * c], -1)
    return [(grid()[0] + moved) / SIZE, (low + high) / SIZE]


def columns(parts):
    """Parts [1, 2100, n] as one output [1, features, 2100]."""
    return tf.transpose(tf.concat(parts, -1), [0, 2, 1])


def branch(ops, levels, name, channels):
    """One head on all levels, flat."""
    return [head(ops, k, name, x, channels) for k, x in enumerate(levels)]


def boxes_of(ops, levels, classes=CLASSES, box="box", cls="cls"):
    """Head outputs: distances and logits."""
    return zip(*detect(ops, levels, box, cls, classes))


def detector(ops, x):
    """output0 [1, 7, 2100]."""
    dist, cls = boxes_of(ops, neck(ops, *backbone(ops, x)[2:]))
    with tf.name_scope("decode"):
        return [columns(upright(flat(dist, 4, BINS)) + [tf.sigmoid(flat(cls, CLASSES))])]


def masks(ops, x):
    """output0 [1, 23, 2100], prototypes [1, 160, 160, 16]."""
    p1, p2, *maps = backbone(ops, x)
    levels = neck(ops, *maps)
    dist, cls = boxes_of(ops, levels)
    coefs = branch(ops, levels, "coef", COEFS)
    proto = prototypes(ops, p1, p2, levels[0])
    with tf.name_scope("decode"):
        return [columns(upright(flat(dist, 4, BINS)) +
                        [tf.sigmoid(flat(cls, CLASSES)), flat(coefs, COEFS)]),
                tf.identity(proto)]


def keypoints(ops, x):
    """output0 [1, 14, 2100]."""
    levels = neck(ops, *backbone(ops, x)[2:])
    dist, cls = boxes_of(ops, levels, 1)
    points = branch(ops, levels, "point", 3 * POINTS)
    with tf.name_scope("decode"):
        at, strides = (v[:, None] for v in grid())
        raw = flat(points, POINTS, 3)
        where = (raw[..., :2] * 2 * strides + at - strides / 2) / SIZE
        rows = tf.concat([where, tf.sigmoid(raw[..., 2:])], -1)
        return [columns(upright(flat(dist, 4, BINS)) + [
            tf.sigmoid(flat(cls, 1)), tf.reshape(rows, [1, -1, 3 * POINTS])])]


def rotated_boxes(ops, x):
    """output0 [1, 8, 2100]."""
    levels = neck(ops, *backbone(ops, x)[2:])
    dist, cls = boxes_of(ops, levels, CLASSES, "rbox", "rcls")
    angle = branch(ops, levels, "angle", 1)
    with tf.name_scope("decode"):
        angle = (tf.sigmoid(flat(angle, 1)) - 0.25) * np.pi
        return [columns(rotated(flat(dist, 4, BINS), angle) +
                        [tf.sigmoid(flat(cls, CLASSES)), angle])]


def lights(ops, x):
    """output0 [1, 9], probabilities."""
    logits = light(ops, x)
    with tf.name_scope("decode"):
        return [tf.nn.softmax(tf.reshape(logits, [1, len(LIGHTS)]))]


def single_shot(ops, x):
    """Offsets [1, N, 4], logits [1, N, 4] and priors [N, 4]."""
    offsets, logits = ssd(ops, neck(ops, *backbone(ops, x)[2:]))
    with tf.name_scope("decode"):
        rows = lambda maps, n: tf.concat([tf.reshape(m, [1, -1, n]) for m in maps], 1)
        return [rows(offsets, 4), rows(logits, 1 + CLASSES),
                # The sum keeps the converter from dropping an output that is constant.
                tf.constant(priors(), tf.float32) + tf.minimum(x[0, 0, 0, 0], 0)]


KINDS = {"detect": detector, "segment": masks, "pose": keypoints, "obb": rotated_boxes,
         "classify": lights}


def converted(path, kind, size):
    """The float32 TFLite file of an ONNX file, as bytes."""
    ops = ExportOps()
    kind(ops, tf.zeros([1, size, size, 3]))
    ops.load(trunk_weights(path))

    @tf.function(input_signature=[tf.TensorSpec([1, size, size, 3], tf.float32, "images")])
    def run(images):
        return {f"output{k}": v for k, v in enumerate(kind(ops, images))}
    module = tf.Module()
    module.run = run
    module.values = list(ops.params.values()) + list(ops.stats.values())
    converter = tf.lite.TFLiteConverter.from_concrete_functions([run.get_concrete_function()],
                                                                module)
    return converter.convert()


def quantized(model, size, count):
    """The int8 file of a float32 file, calibrated on training scenes: activations, and weights by
    channel, but for the decode."""
    scenes = [{"images": letterbox(render_still(seed)[0], size)[0][None].astype(np.float32) / 255}
              for seed in range(SEED_TRAIN, SEED_TRAIN + count)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.tflite")
        with open(path, "wb") as f:
            f.write(model)
        work = quantizer.Quantizer(path)
        # The converter names what makes an output after the function.
        body = "^((?!decode|StatefulPartitionedCall).)*$"
        for name in BODY:
            work.add_static_config(body, qtyping.TFLOperationName[name], 8, 8)
        ranges = work.calibrate({"serving_default": scenes})
        return portable(bytes(work.quantize(ranges).quantized_model))


def portable(model):
    """The file as OpenVINO reads it, too: with the weights in the tables, not behind them, and
    operators with the code of older readers."""
    tables = schema.ModelT.InitFromObj(schema.Model.GetRootAs(model))
    for buffer in tables.buffers:
        if buffer.offset > 1:
            part = model[buffer.offset:buffer.offset + buffer.size]
            buffer.data, buffer.offset, buffer.size = np.frombuffer(part, np.uint8), 0, 0
    for code in tables.operatorCodes:
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    builder = flatbuffers.Builder(len(model))
    builder.Finish(tables.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def write(path, model, metadata):
    """The file with its metadata as an archive at its end."""
    known = {k: v for k, v in metadata.items() if k != "edgefirst.json"}
    with open(path, "wb") as f:
        f.write(model)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        stamp = lambda name: zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        archive.writestr(stamp("metadata.json"), json.dumps(known))
        if "edgefirst.json" in metadata:
            archive.writestr(stamp("edgefirst.json"), metadata["edgefirst.json"])
    print(f"wrote {path}: {os.path.getsize(path)} bytes")


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", help="ONNX files of export.py and export_heads.py")
    parser.add_argument("--folder", default=".", help="where NAME.tflite, NAME_int8.tflite go")
    parser.add_argument("--float", action="store_true", help="also write the float32 file")
    parser.add_argument("--count", type=int, default=100, help="calibration scenes")
    args = parser.parse_args()
    for path in args.models:
        source = onnx.load(path)
        metadata = {p.key: p.value for p in source.metadata_props}
        size = source.graph.input[0].type.tensor_type.shape.dim[3].dim_value
        kind = single_shot if "edgefirst.json" in metadata else KINDS[metadata["task"]]
        stem = os.path.join(args.folder, os.path.splitext(os.path.basename(path))[0])
        model = converted(path, kind, size)
        if args.float:
            write(stem + ".tflite", model, metadata)
        write(stem + "_int8.tflite", quantized(model, size, args.count), metadata)


if __name__ == "__main__":
    main()
