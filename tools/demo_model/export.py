# SPDX-License-Identifier: Apache-2.0
"""Write the trained detector as ONNX with the interface of a YOLOv8 export.

Input "images" float32 [1,3,320,320] (RGB planar, value / 255); output
"output0" float32 [1,7,2100]: cx, cy, w, h in input pixels, then class
probabilities. Batch norms are folded into the convolutions.
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from net import BINS, CLASSES, SIZE, anchor_points, network

BN_EPS = 1e-3
METADATA = {"names": "{0: 'boat', 1: 'buoy', 2: 'gull'}", "imgsz": "[320, 320]", "stride": "32",
            "task": "detect", "batch": "1", "author": "Halyard", "license": "Apache-2.0",
            "version": "1.0",
            "description": "Harbour detector (boat, buoy, gull) trained on rendered scenes"}


class OnnxOps:
    """Writes the calls of net.network as nodes; values are tensor names."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.constants, self.count = [], [], 0

    def node(self, kind, inputs, outputs=1, name=None, **attributes):
        """Append a node; returns its output name, or a list for outputs > 1."""
        self.count += 1
        name = name or f"{kind.lower()}_{self.count}"
        outs = [f"{name}_out{k}" if outputs > 1 else f"{name}_out" for k in range(outputs)]
        self.nodes.append(helper.make_node(kind, inputs, outs, name=name, **attributes))
        return outs if outputs > 1 else outs[0]

    def const(self, name, array):
        """Add an initializer once; returns its name."""
        if name not in [c.name for c in self.constants]:
            self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def folded(self, name, plain):
        """OIHW weight and bias of a convolution with its batch norm folded in."""
        w = self.weights[name + ".w"].transpose(3, 2, 0, 1).astype(np.float64)
        if plain:
            return w.astype(np.float32), self.weights[name + ".b"].astype(np.float32)
        get = lambda part: self.weights[f"{name}.{part}"].astype(np.float64)
        k = get("gamma") / np.sqrt(get("var") + BN_EPS)
        return ((w * k[:, None, None, None]).astype(np.float32),
                (get("beta") - get("mean") * k).astype(np.float32))

    def conv(self, name, x, cin, cout, k, stride=1, plain=False):
        """Conv, then SiLU as Sigmoid and Mul unless plain."""
        w, b = self.folded(name, plain)
        assert w.shape == (cout, cin, k, k)
        y = self.node("Conv", [x, self.const(name + ".weight", w), self.const(name + ".bias", b)],
                      name=name + ".conv", kernel_shape=[k, k], strides=[stride] * 2,
                      pads=[k // 2] * 4, dilations=[1, 1], group=1)
        if plain:
            return y
        return self.node("Mul", [y, self.node("Sigmoid", [y], name=name + ".sigmoid")],
                         name=name + ".mul")

    def split(self, x, half):
        """Two parts of `half` channels each."""
        sizes = self.const(f"split_{half}", np.array([half, half], np.int64))
        return self.node("Split", [x, sizes], outputs=2, axis=1)

    def concat(self, parts, axis=1):
        """Concatenation, of channels by default."""
        return self.node("Concat", list(parts), axis=axis)

    def add(self, a, b):
        """Sum of two maps of one shape."""
        return self.node("Add", [a, b])

    def upsample(self, x):
        """Nearest neighbour, twice the size."""
        scales = self.const("upsample_scales", np.array([1, 1, 2, 2], np.float32))
        return self.node("Resize", [x, "", scales], mode="nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric")

    def maxpool(self, x, k):
        """k x k maximum, stride 1, same size."""
        return self.node("MaxPool", [x], kernel_shape=[k, k], strides=[1, 1], pads=[k // 2] * 4)

    def mean(self, x):
        """Mean over rows and columns, kept as a map of one cell."""
        return self.node("GlobalAveragePool", [x])

    def reshape(self, x, shape, name):
        """Reshape to a constant shape (-1: what is left)."""
        return self.node("Reshape", [x, self.const(name + ".shape", np.array(shape, np.int64))],
                         name=name)


def levels_of(ops, maps, channels, name):
    """Maps of all levels as one [1, channels, 2100]."""
    flat = [ops.reshape(m, [1, channels, -1], f"{name}.flat{k}") for k, m in enumerate(maps)]
    return ops.node("Concat", flat, name=f"{name}.levels", axis=2)


def distances(ops, box, total):
    """Distances [1,2,total] in strides to left and top, and to right and bottom."""
    box = ops.reshape(box, [1, 4, BINS, total], "decode.bins")
    box = ops.node("Transpose", [box], name="decode.transpose", perm=[0, 2, 1, 3])
    box = ops.node("Softmax", [box], name="decode.softmax", axis=1)
    ramp = np.arange(BINS, dtype=np.float32).reshape(1, BINS, 1, 1)
    box = ops.node("Conv", [box, ops.const("decode.dfl", ramp)], name="decode.dfl_conv",
                   kernel_shape=[1, 1])
    box = ops.reshape(box, [1, 4, total], "decode.ltrb")
    two = ops.const("decode.halves", np.array([2, 2], np.int64))
    return ops.node("Split", [box, two], outputs=2, name="decode.sides", axis=1)


def upright(ops, lt, rb, anchors):
    """Centre and size in strides of boxes whose sides are the image's."""
    low = ops.node("Sub", [anchors, lt], name="decode.low")
    high = ops.node("Add", [anchors, rb], name="decode.high")
    total_xy = ops.node("Add", [low, high], name="decode.sum")
    centre = ops.node("Div", [total_xy, ops.const("decode.two", np.array(2, np.float32))],
                      name="decode.centre")
    return centre, ops.node("Sub", [high, low], name="decode.size")


def rotated(ops, lt, rb, anchors, angle):
    """Centre and size in strides of boxes at an angle [1,1,total] in radians."""
    size = ops.node("Add", [lt, rb], name="decode.size")
    gap = ops.node("Sub", [rb, lt], name="decode.gap")
    gap = ops.node("Div", [gap, ops.const("decode.two", np.array(2, np.float32))],
                   name="decode.middle")
    one = ops.const("decode.ones", np.array([1, 1], np.int64))
    x, y = ops.node("Split", [gap, one], outputs=2, name="decode.axes", axis=1)
    c = ops.node("Cos", [angle], name="decode.cos")
    s = ops.node("Sin", [angle], name="decode.sin")
    times = lambda a, b, name: ops.node("Mul", [a, b], name="decode." + name)
    u = ops.node("Sub", [times(x, c, "xc"), times(y, s, "ys")], name="decode.u")
    v = ops.node("Add", [times(x, s, "xs"), times(y, c, "yc")], name="decode.v")
    moved = ops.node("Concat", [u, v], name="decode.uv", axis=1)
    return ops.node("Add", [anchors, moved], name="decode.centre"), size


def decode(ops, heads, classes=CLASSES, extra=None, angle=None):
    """Nodes from the head maps to output0; all named "decode...".

    extra: values [1,N,2100] below the classes; angle: that of rotated boxes, itself the last.
    """
    points, strides = anchor_points()
    total = len(strides)
    flat = [ops.reshape(ops.node("Concat", [b, c], name=f"decode.cat{k}", axis=1),
                        [1, 4 * BINS + classes, -1], f"decode.flat{k}")
            for k, (b, c) in enumerate(heads)]
    every = ops.node("Concat", flat, name="decode.levels", axis=2)
    sizes = ops.const("decode.split_sizes", np.array([4 * BINS, classes], np.int64))
    box, cls = ops.node("Split", [every, sizes], outputs=2, name="decode.split", axis=1)
    lt, rb = distances(ops, box, total)
    grid = (np.array(points) / np.array(strides)[:, None]).T[None].astype(np.float32)
    anchors = ops.const("decode.anchors", grid)
    centre, size = rotated(ops, lt, rb, anchors, angle) if angle else \
        upright(ops, lt, rb, anchors)
    xywh = ops.node("Concat", [centre, size], name="decode.xywh", axis=1)
    scale = ops.const("decode.strides", np.array(strides, np.float32)[None])
    xywh = ops.node("Mul", [xywh, scale], name="decode.pixels")
    probs = ops.node("Sigmoid", [cls], name="decode.sigmoid")
    rows = [xywh, probs] + [v for v in (extra, angle) if v]
    ops.nodes.append(helper.make_node("Concat", rows, ["output0"], name="decode.output", axis=1))


def finish(ops, outputs, metadata, size=SIZE):
    """Checked model of the nodes; outputs: shapes by name."""
    info = lambda name, shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
    graph = helper.make_graph(ops.nodes, "harbour", [info("images", [1, 3, size, size])],
                              [info(*item) for item in outputs.items()], ops.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8,
                              producer_name="halyard demo_model")
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    return model


def build(weights):
    """ONNX model of a weights dict (see train.py)."""
    ops = OnnxOps(weights)
    decode(ops, network(ops, "images"))
    return finish(ops, {"output0": [1, 4 + CLASSES, len(anchor_points()[1])]}, METADATA)


def compare(path, weights, seed=0):
    """Largest differences (boxes in pixels, probabilities) of ONNX against TensorFlow."""
    import onnxruntime
    import tensorflow as tf
    from tf_ops import TfOps, decode as tf_decode, flat_heads
    from render import render_still
    from augment import letterbox
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    ops = TfOps()
    flat_heads(ops, tf.zeros([1, SIZE, SIZE, 3]))
    ops.load(weights)
    points, strides = [tf.constant(v, tf.float32) for v in anchor_points()]
    worst = np.zeros(2)
    for k in range(4):
        x = letterbox(render_still(9_000_000 + k)[0])[0][None].astype(np.float32) / 255
        dist, cls = flat_heads(ops, tf.constant(x))
        box = tf_decode(dist, points, strides).numpy()[0].T
        want = np.concatenate([(box[:2] + box[2:]) / 2, box[2:] - box[:2],
                               tf.sigmoid(cls).numpy()[0].T])
        got = session.run(None, {"images": x.transpose(0, 3, 1, 2).copy()})[0][0]
        diff = np.abs(got - want)
        worst = np.maximum(worst, [diff[:4].max(), diff[4:].max()])
    return worst


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", help=".npz of train.py")
    parser.add_argument("out", help="ONNX file to write")
    args = parser.parse_args()
    weights = dict(np.load(args.weights))
    onnx.save(build(weights), args.out)
    boxes, probs = compare(args.out, weights)
    print(f"wrote {args.out}; ONNX against training framework: "
          f"boxes {boxes:.2e} px, probabilities {probs:.2e}")
    if boxes > 1e-3 or probs > 1e-3:
        raise SystemExit("the ONNX file differs from the training framework")


if __name__ == "__main__":
    main()
