# SPDX-License-Identifier: Apache-2.0
"""What Ultralytics does between an image and its detections, plainly, with NumPy and OpenCV. It
shares nothing with the library, and each function is one step."""
import dataclasses

import numpy as np
import pytest

MOST_CANDIDATES, MOST_DETECTIONS, OVERLAP, CLASS_SHIFT = 30000, 300, 0.7, 7680


@dataclasses.dataclass(frozen=True)
class Rules:
    enlarges: bool          # small images
    threshold: np.float32   # a score must be above it
    multi_label: bool       # every class of an anchor, or the best one


RULES = {"ultralytics": Rules(True, np.float32(0.25), False),
         "ultralytics-val": Rules(False, np.float32(0.001), True)}


@dataclasses.dataclass(frozen=True)
class Letterbox:
    image: tuple      # width, height
    target: tuple
    ratio: float
    left: int
    top: int
    right: int
    bottom: int
    inner: tuple

    @staticmethod
    def of(image, target, enlarges):
        ratio = min(target[0] / image[0], target[1] / image[1])
        if not enlarges:
            ratio = min(ratio, 1.0)
        inner = round(image[0] * ratio), round(image[1] * ratio)
        dw, dh = (target[0] - inner[0]) / 2, (target[1] - inner[1]) / 2
        return Letterbox(tuple(image), tuple(target), ratio, round(dw - 0.1), round(dh - 0.1),
                         round(dw + 0.1), round(dh + 0.1), inner)

    def padded(self, rgb):
        cv2 = pytest.importorskip("cv2")
        if self.image != self.inner:
            rgb = cv2.resize(rgb, self.inner, interpolation=cv2.INTER_LINEAR)
        return cv2.copyMakeBorder(rgb, self.top, self.bottom, self.left, self.right,
                                  cv2.BORDER_CONSTANT, value=(114, 114, 114))

    def network_input(self, rgb):
        """f32 [3, H, W] in [0, 1]."""
        return self.padded(rgb).transpose(2, 0, 1).astype(np.float32) / 255

    def points_back(self, points):
        """x, y along the last axis; minus the integer pad, by the ratio, clipped."""
        moved = (np.asarray(points, np.float64) - [self.left, self.top]) / self.ratio
        return np.clip(moved, 0, self.image)

    def boxes_back(self, boxes):
        return self.points_back(np.reshape(boxes, (-1, 2, 2))).reshape(-1, 4)

    def cut(self, plane):
        return plane[self.top:self.top + self.inner[1], self.left:self.left + self.inner[0]]


def corners(centred):
    """cx cy w h in columns -> x1 y1 x2 y2 in rows."""
    cx, cy, w, h = centred
    return np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)


def candidates(scores, rules):
    """scores [classes, anchors] -> anchors and classes, best first, equal ones as they come."""
    if rules.multi_label:
        anchors, labels = np.nonzero(scores.T > rules.threshold)
    else:
        labels = scores.argmax(0)
        anchors = np.flatnonzero(scores.max(0) > rules.threshold)
        labels = labels[anchors]
    order = np.argsort(-scores[labels, anchors], kind="stable")[:MOST_CANDIDATES]
    return anchors[order], labels[order]


def overlaps(box, others):
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    inside = np.prod(np.clip(high - low, 0, None), 1)
    area = np.prod(box[2:] - box[:2]) + np.prod(others[:, 2:] - others[:, :2], 1)
    return inside / (area - inside)


def suppress(boxes, labels):
    """Greedy, classes moved aside by 7680 px: places of the survivors, and the least distance of
    an overlap that was asked for from the threshold. Computes in the type of the boxes."""
    moved = boxes + (labels[:, None] * CLASS_SHIFT).astype(boxes.dtype)
    places, kept, closest = np.arange(len(boxes)), [], 1.0
    while places.size and len(kept) < MOST_DETECTIONS:
        first, places = places[0], places[1:]
        kept.append(first)
        shares = overlaps(moved[first], moved[places])
        if shares.size:
            closest = min(closest, np.abs(shares - OVERLAP).min())
        places = places[~(shares > OVERLAP)]
    return np.array(kept, int), closest


@dataclasses.dataclass
class Found:
    boxes: np.ndarray   # in the input's pixels
    scores: np.ndarray
    labels: np.ndarray
    anchors: np.ndarray
    closest: float      # see suppress()


def detect(raw, classes, rules, dtype=np.float64):
    """raw [4 + classes + ..., anchors], boxes in pixels of the input."""
    raw = raw.astype(dtype)
    anchors, labels = candidates(raw[4:4 + classes], rules)
    boxes = corners(raw[:4, anchors])
    kept, closest = suppress(boxes, labels)
    anchors, labels = anchors[kept], labels[kept]
    return Found(boxes[kept], raw[4 + labels, anchors], labels, anchors, closest)


def detect_rows(rows, rules):
    """End-to-end heads: rows of x1 y1 x2 y2 score class; best first, nothing is suppressed."""
    order = np.argsort(-rows[:, 4], kind="stable")
    order = order[rows[order, 4] > rules.threshold][:MOST_DETECTIONS]
    rows = rows[order]
    return Found(rows[:, :4], rows[:, 4], rows[:, 5].astype(int), order, 1.0)


def is_inside(box, shape):
    y, x = np.arange(shape[0])[:, None], np.arange(shape[1])
    return (x >= box[0]) & (x < box[2]) & (y >= box[1]) & (y < box[3])


def enlarged(plane, size):
    """Bilinear, half-pixel centres, in f32."""
    cv2 = pytest.importorskip("cv2")
    plane = np.ascontiguousarray(plane, np.float32)
    return cv2.resize(plane, tuple(size), interpolation=cv2.INTER_LINEAR)


def mask(coefficients, prototypes, box, letterbox):
    """Of the image, as the validator makes it; and the logits at the network's input."""
    logits = np.tensordot(coefficients.astype(np.float64), prototypes.astype(np.float64), 1)
    large = enlarged(logits, letterbox.target)
    binary = (large > 0) & is_inside(box, large.shape)
    shown = enlarged(letterbox.cut(binary.astype(np.float32)), letterbox.image)
    return shown + 1e-6 >= 1, large  # 1e-6: weights of OpenCV add up to 1 - 6e-8


def quick_mask(coefficients, prototypes, box, letterbox):
    """Logits cut at the prototypes, enlarged once: to the image, straight from the rectangle of
    the input that shows it. Mask and logits."""
    logits = np.tensordot(coefficients.astype(np.float64), prototypes.astype(np.float64), 1)
    share = np.array(logits.shape[::-1]) / letterbox.target
    logits = np.where(is_inside(box * np.tile(share, 2), logits.shape), logits, 0)
    axes = []
    for axis, pad in enumerate((letterbox.left, letterbox.top)):
        centres = (np.arange(letterbox.image[axis]) + 0.5) / letterbox.image[axis]
        places = (pad + centres * letterbox.inner[axis]) * share[axis] - 0.5
        axes.append(np.clip(places, 0, logits.shape[1 - axis] - 1))
    large = between(between(logits, axes[0]).T, axes[1]).T
    return large > 0, large


def between(rows, places):
    """Columns of `rows` at fractional places."""
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, rows.shape[1] - 1)
    return rows[:, low] * (1 - (places - low)) + rows[:, high] * (places - low)
