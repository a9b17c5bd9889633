# SPDX-License-Identifier: Apache-2.0
"""Outputs of made-up models for the tests."""
import numpy as np

import halyard as ef

INPUT = (640, 480)
CLASSES, ANCHORS, PROTOS, SIDE = 5, 400, 8, 16
# Boxes in fractions as x1, y1, x2, y2, with their score and class.
OBJECTS = [((0.1, 0.1, 0.4, 0.5), 0.9, 2), ((0.5, 0.5, 0.9, 0.9), 0.7, 0)]


def detection_output(objects=OBJECTS, extra=0):
    """(1, 4 + CLASSES + extra, ANCHORS) f32: centre, size, scores and coefficients."""
    out = np.zeros((1, 4 + CLASSES + extra, ANCHORS), np.float32)
    for i, (box, score, label) in enumerate(objects):
        x1, y1, x2, y2 = box
        column = out[0, :, 7 + 11 * i]
        column[:4] = (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1
        column[4 + label] = score
        if extra:
            column[4 + CLASSES + i % extra] = 4.0
    return out


def prototypes():
    """(1, SIDE, SIDE, PROTOS) f32: prototype k is on everywhere, but the left half for k = 0."""
    out = np.ones((1, SIDE, SIDE, PROTOS), np.float32)
    out[0, :, :SIDE // 2, 0] = -1
    return out


def decoder(**options):
    return ef.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 4 + CLASSES, ANCHORS]).with_normalized(True)],
        0.25, 0.45, **{"input_dims": INPUT, **options})


def segmenter(package=ef, **options):
    return package.Decoder.new_from_outputs(
        [ef.Output.detection(shape=[1, 4 + CLASSES + PROTOS, ANCHORS]).with_normalized(True),
         ef.Output.protos(shape=[1, SIDE, SIDE, PROTOS])], 0.25, 0.45,
        **{"input_dims": INPUT, **options})


def pixels(boxes):
    """Boxes in fractions as pixels of the network's input."""
    return np.asarray(boxes) * np.tile(INPUT, 2)


def arrays(found):
    """What Detections hold, as the three arrays that calls for plain arrays take."""
    return found.xyxy, found.confidence, found.class_id


def tensor(array):
    made = ef.Tensor(list(array.shape), str(array.dtype), ef.TensorMemory.MEM)
    made.from_numpy(array)
    return made


def config():
    return {"outputs": [{"type": "detection", "decoder": "ultralytics", "normalized": True,
                         "shape": [1, 4 + CLASSES, ANCHORS],
                         "dshape": [("batch", 1), ("num_features", 4 + CLASSES),
                                    ("num_boxes", ANCHORS)]}]}
