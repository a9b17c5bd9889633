# SPDX-License-Identifier: Apache-2.0
"""Writes a small segmentation network as ONNX, with the interface of a YOLOv8 export.

Boxes and classes are constants; the prototypes are the image's own colours, averaged over 4 x 4
pixels. Coefficients (1, 0, -1) thus make the mask of all pixels that are more red than blue.

    segmentation_model.py FILE
"""
import struct
import sys

SIDE, ANCHORS, FLOAT = 64, 24, 1


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, value):
    """One field of a protobuf message: a number, a text, or another message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def numbers(name, values):
    return field(5, field(1, name) + b"".join(field(8, v) for v in values) + field(20, 7))


def node(kind, inputs, output, *attributes):
    return field(1, b"".join(field(1, name) for name in inputs) + field(2, output) +
                 field(4, kind) + b"".join(attributes))


def value_info(name, shape):
    dims = b"".join(field(1, field(1, extent)) for extent in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, dims)))


def segmentation_model(objects, names=("red", "blue")):
    """The file's bytes. `objects`: (cx, cy, w, h in pixels of 64 x 64, class, score,
    coefficients of red, green and blue); the class is an index of `names`."""
    features = 4 + len(names) + 3
    table = [[0.0] * ANCHORS for _ in range(features)]
    for anchor, (cx, cy, w, h, label, score, *coefficients) in enumerate(objects):
        scores = [score if k == label else 0.0 for k in range(len(names))]
        for row, value in zip(table, [cx, cy, w, h, *scores, *coefficients]):
            row[anchor] = value
    shape = [1, features, ANCHORS]
    raw = b"".join(struct.pack(f"<{ANCHORS}f", *row) for row in table)
    boxes = b"".join(field(1, extent) for extent in shape) + field(2, FLOAT) + \
        field(8, "boxes") + field(9, raw)
    graph = node("Identity", ["boxes"], "output0")
    graph += node("AveragePool", ["images"], "output1", numbers("kernel_shape", [4, 4]),
                  numbers("strides", [4, 4]))
    graph += field(2, "colours") + field(5, boxes)
    graph += field(11, value_info("images", [1, 3, SIDE, SIDE]))
    graph += field(12, value_info("output0", shape))
    graph += field(12, value_info("output1", [1, 3, SIDE // 4, SIDE // 4]))
    listed = ", ".join(f"{i}: '{name}'" for i, name in enumerate(names))
    told = {"names": "{" + listed + "}", "task": "segment", "stride": "4",
            "imgsz": f"[{SIDE}, {SIDE}]"}
    model = field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))
    return model + b"".join(field(14, field(1, k) + field(2, v)) for k, v in told.items())


def pose_model(objects):
    """A network of one class, whose objects have keypoints; all is constant. `objects`: (cx, cy, w,
    h in pixels of 64 x 64, score, points of x, y, score)."""
    points = len(objects[0][5])
    features = 5 + 3 * points
    table = [[0.0] * ANCHORS for _ in range(features)]
    for anchor, (*box, score, keypoints) in enumerate(objects):
        for row, value in zip(table, [*box, score, *(v for point in keypoints for v in point)]):
            row[anchor] = value
    shape = [1, features, ANCHORS]
    raw = b"".join(struct.pack(f"<{ANCHORS}f", *row) for row in table)
    boxes = b"".join(field(1, extent) for extent in shape) + field(2, FLOAT) + \
        field(8, "boxes") + field(9, raw)
    graph = node("Identity", ["boxes"], "output0")
    graph += field(2, "pose") + field(5, boxes)
    graph += field(11, value_info("images", [1, 3, SIDE, SIDE]))
    graph += field(12, value_info("output0", shape))
    told = {"names": "{0: 'person'}", "task": "pose", "stride": "4", "imgsz": f"[{SIDE}, {SIDE}]",
            "kpt_shape": f"[{points}, 3]"}
    model = field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))
    return model + b"".join(field(14, field(1, k) + field(2, v)) for k, v in told.items())


if __name__ == "__main__":
    with open(sys.argv[1], "wb") as file:
        file.write(segmentation_model([(32, 32, 48, 24, 0, 0.9, 1, 0, -1),
                                       (32, 32, 56, 32, 1, 0.8, -1, 0, 1)]))
