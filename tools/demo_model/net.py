# SPDX-License-Identifier: Apache-2.0
"""The detector network, described once and run by two interpreters.

`network(ops, image)` calls only ops.conv, ops.split, ops.concat, ops.add,
ops.upsample and ops.maxpool. TfOps (tf_ops.py) runs it for training; OnnxOps
(export.py) writes the same calls as ONNX nodes with folded batch norms.

Head outputs per level: 4 * BINS distance logits (left, top, right, bottom, as
distributions over BINS whole strides) and one logit per class.
"""

SIZE = 320
STRIDES = (8, 16, 32)
BINS = 8
CLASSES = 3
WIDTHS = (12, 24, 32, 48, 56)   # channels at strides 2, 4, 8, 16, 32
NECK = (32, 40, 40)             # channels of the head inputs at strides 8, 16, 32
HEAD = 24                       # channels inside the heads
COEFS = 16                      # coefficients of a mask
PROTO = (16, 24, 16)            # channels at strides 8, 4 and 2 in the prototypes
POINTS = 3                      # keypoints of a boat
LIGHTS = 9                      # classes of the light
SCALES = ((10, 18), (30, 50), (85, 150))   # of the SSD's priors at strides 8, 16, 32, in pixels
SHAPES = (0.5, 1.0, 2.2)        # width by height of the SSD's priors
PRIORS = 6                      # of a cell: each scale in each shape


def c2f(ops, name, x, cin, cout, count, shortcut):
    """Cross-stage block: 1x1, split, `count` bottlenecks, concat, 1x1."""
    half = cout // 2
    parts = list(ops.split(ops.conv(name + ".cv1", x, cin, cout, 1), half))
    for k in range(count):
        y = ops.conv(f"{name}.m{k}.cv1", parts[-1], half, half, 3)
        y = ops.conv(f"{name}.m{k}.cv2", y, half, half, 3)
        parts.append(ops.add(parts[-1], y) if shortcut else y)
    return ops.conv(name + ".cv2", ops.concat(parts), (2 + count) * half, cout, 1)


def sppf(ops, name, x, channels):
    """Chain of three 5x5 max pools, concatenated."""
    half = channels // 2
    parts = [ops.conv(name + ".cv1", x, channels, half, 1)]
    for _ in range(3):
        parts.append(ops.maxpool(parts[-1], 5))
    return ops.conv(name + ".cv2", ops.concat(parts), 4 * half, channels, 1)


def backbone(ops, image):
    """Feature maps at strides 2, 4, 8, 16 and 32."""
    w1, w2, w3, w4, w5 = WIDTHS
    p1 = ops.conv("b1", image, 3, w1, 3, stride=2)
    x = ops.conv("b2", p1, w1, w2, 3, stride=2)
    p2 = c2f(ops, "b2c", x, w2, w2, 1, True)
    x = ops.conv("b3", p2, w2, w3, 3, stride=2)
    p3 = c2f(ops, "b3c", x, w3, w3, 2, True)
    x = ops.conv("b4", p3, w3, w4, 3, stride=2)
    p4 = c2f(ops, "b4c", x, w4, w4, 2, True)
    x = ops.conv("b5", p4, w4, w5, 3, stride=2)
    x = c2f(ops, "b5c", x, w5, w5, 1, True)
    return p1, p2, p3, p4, sppf(ops, "b5s", x, w5)


def neck(ops, p3, p4, p5):
    """Top-down, then bottom-up mixing of the three levels."""
    n3, n4, n5 = NECK
    t4 = c2f(ops, "n4", ops.concat([ops.upsample(p5), p4]), WIDTHS[4] + WIDTHS[3], n4, 1, False)
    o3 = c2f(ops, "n3", ops.concat([ops.upsample(t4), p3]), n4 + WIDTHS[2], n3, 1, False)
    d4 = ops.conv("d4", o3, n3, n3, 3, stride=2)
    o4 = c2f(ops, "o4", ops.concat([d4, t4]), n3 + n4, n4, 1, False)
    d5 = ops.conv("d5", o4, n4, n4, 3, stride=2)
    o5 = c2f(ops, "o5", ops.concat([d5, p5]), n4 + WIDTHS[4], n5, 1, False)
    return o3, o4, o5


def head(ops, level, name, x, outputs, width=HEAD):
    """Branch of one level: 3x3 to `width` channels, then 1x1 to `outputs`."""
    y = ops.conv(f"h{level}.{name}1", x, NECK[level], width, 3)
    return ops.conv(f"h{level}.{name}2", y, width, outputs, 1, plain=True)


def detect(ops, levels, box="box", cls="cls", classes=CLASSES):
    """List of (distance logits, class logits) maps, one pair per stride."""
    return [(head(ops, k, box, x, 4 * BINS), head(ops, k, cls, x, classes))
            for k, x in enumerate(levels)]


def network(ops, image):
    """The detector: list of (distance logits, class logits) maps, one pair per stride."""
    return detect(ops, neck(ops, *backbone(ops, image)[2:]))


def prototypes(ops, p1, p2, o3):
    """COEFS prototypes of masks at stride 2."""
    c8, c4, c2 = PROTO
    x = ops.upsample(ops.conv("proto.cv1", o3, NECK[0], c8, 3))
    x = ops.upsample(ops.conv("proto.cv2", ops.concat([x, p2]), c8 + WIDTHS[1], c4, 3))
    x = ops.conv("proto.cv3", ops.concat([x, p1]), c4 + WIDTHS[0], c2, 3)
    return ops.conv("proto.cv4", x, c2, COEFS, 1, plain=True)


def anchor_points():
    """Anchor centres in pixels and strides: lists of (x, y) and of s, 2100 each."""
    points, strides = [], []
    for s in STRIDES:
        cells = SIZE // s
        for row in range(cells):
            for col in range(cells):
                points.append(((col + 0.5) * s, (row + 0.5) * s))
                strides.append(s)
    return points, strides


def ssd(ops, levels):
    """Lists of offsets (4 of each prior) and of class logits (background first), one per stride."""
    return ([head(ops, k, "offset", x, 4 * PRIORS, 40) for k, x in enumerate(levels)],
            [head(ops, k, "kind", x, (1 + CLASSES) * PRIORS, 40) for k, x in enumerate(levels)])


def priors():
    """The SSD's priors [cx, cy, w, h] as fractions of the input: level by level, row by row."""
    rows = []
    for stride, scales in zip(STRIDES, SCALES):
        sizes = [(scale * shape ** 0.5 / SIZE, scale / shape ** 0.5 / SIZE)
                 for scale in scales for shape in SHAPES]
        cells = SIZE // stride
        rows += [((col + 0.5) / cells, (row + 0.5) / cells, w, h)
                 for row in range(cells) for col in range(cells) for w, h in sizes]
    return rows


def light(ops, image):
    """Logits of the light of an image, from the means of the backbone's maps."""
    means = [ops.mean(x) for x in backbone(ops, image)[1:]]
    return ops.conv("light", ops.concat(means), sum(WIDTHS[1:]), LIGHTS, 1, plain=True)
