# SPDX-License-Identifier: Apache-2.0
"""Letterbox and training augmentation.

Boxes are float32 [N,4] xyxy in pixels, labels int [N]; images uint8 RGB.
"""

import cv2
import numpy as np

from net import SIZE

PAD = 114
MAX_BOXES = 40


def letterbox(image, size=SIZE):
    """Scale into size x size, in the image's type; returns (image, scale, left, top)."""
    h, w = image.shape[:2]
    r = min(size / w, size / h)
    nw, nh = max(1, round(w * r)), max(1, round(h * r))
    left, top = (size - nw) // 2, (size - nh) // 2
    out = np.full((size, size, 3), PAD, image.dtype)
    out[top:top + nh, left:left + nw] = cv2.resize(image, (nw, nh),
                                                   interpolation=cv2.INTER_LINEAR)
    return out, r, left, top


def warp(image, boxes, scale, dx, dy, flip):
    """Map an image onto SIZE x SIZE: x' = scale * x + dx, mirrored first if flip."""
    w = image.shape[1]
    if flip:
        image = image[:, ::-1]
        boxes = np.stack([w - boxes[:, 2], boxes[:, 1], w - boxes[:, 0], boxes[:, 3]], 1)
    shift = 0.5 * scale - 0.5
    matrix = np.float32([[scale, 0, dx + shift], [0, scale, dy + shift]])
    out = cv2.warpAffine(np.ascontiguousarray(image), matrix, (SIZE, SIZE),
                         flags=cv2.INTER_LINEAR, borderValue=(PAD, PAD, PAD))
    return out, boxes * scale + np.float32([dx, dy, dx, dy])


def clip_boxes(boxes, labels, y0, y1, keep=0.3, side=4.0):
    """Cut boxes to rows [y0, y1); drop those mostly gone or too small."""
    area = np.maximum((boxes[:, 2:] - boxes[:, :2]).prod(1), 1e-6)
    cut = boxes.copy()
    cut[:, 0::2] = np.clip(cut[:, 0::2], 0, SIZE)
    cut[:, 1::2] = np.clip(cut[:, 1::2], y0, y1)
    size = cut[:, 2:] - cut[:, :2]
    good = (size.prod(1) / area > keep) & (size.max(1) >= side) & (size.min(1) > 0.8)
    return cut[good], labels[good]


def place_one(rng, sample, y0, y1, low, high):
    """Random scale and shift of one sample so that it fills rows [y0, y1)."""
    image, boxes, labels = sample
    h, w = image.shape[:2]
    scale = SIZE / w * float(np.exp(rng.uniform(np.log(low), np.log(high))))
    free_x, free_y = SIZE - w * scale, (y1 - y0) - h * scale
    dx = rng.uniform(min(0, free_x), max(0, free_x))
    dy = y0 + rng.uniform(min(0, free_y), max(0, free_y))
    out, moved = warp(image, boxes, scale, dx, dy, rng.random() < 0.5)
    return out, *clip_boxes(moved, labels, y0, y1)


def color_jitter(rng, image):
    """Random gain, gamma, channel balance and saturation."""
    gain = rng.uniform(0.65, 1.35) * (1 + rng.normal(0, 0.06, 3))
    ramp = np.linspace(0, 1, 256)[:, None] ** rng.uniform(0.8, 1.25)
    table = np.clip(ramp * gain * 255, 0, 255).astype(np.uint8)
    out = cv2.LUT(image, np.ascontiguousarray(table.reshape(256, 1, 3)))
    s = rng.uniform(0.5, 1.4)
    mix = np.eye(3) * s + (1 - s) * np.array([[0.3, 0.59, 0.11]] * 3)
    if rng.random() < 0.3:
        angle = rng.uniform(-0.25, 0.25)
        mix = mix @ cv2.Rodrigues(np.full(3, angle / np.sqrt(3)))[0]
    return np.clip(cv2.transform(out, mix), 0, 255).astype(np.uint8)


def degrade(rng, image):
    """Sometimes blur, add noise, or pass through JPEG."""
    if rng.random() < 0.10:
        image = cv2.GaussianBlur(image, (0, 0), rng.uniform(0.3, 1.0))
    if rng.random() < 0.2:
        noise = rng.standard_normal(image.shape, np.float32) * rng.uniform(1, 8)
        image = np.clip(image + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        flags = [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(40, 95))]
        image = cv2.imdecode(cv2.imencode(".jpg", image, flags)[1], cv2.IMREAD_COLOR)
    return image


def plain_sample(rng, sample):
    """Exact letterbox, mirrored half of the time."""
    image, boxes, labels = sample
    if rng.random() < 0.5:
        w = image.shape[1]
        image = np.ascontiguousarray(image[:, ::-1])
        boxes = np.stack([w - boxes[:, 2], boxes[:, 1], w - boxes[:, 0], boxes[:, 3]], 1)
    out, r, left, top = letterbox(image)
    return out, boxes * r + np.float32([left, top, left, top]), labels


def train_sample(rng, pick, plain):
    """One augmented image; pick() draws a sample, plain in 0..1 is the share
    of exact letterboxes."""
    mode = rng.random()
    if mode < plain:
        out, boxes, labels = plain_sample(rng, pick())
    elif mode < plain + (1 - plain) * 0.4:
        top = int(rng.integers(0, 140))
        first = 0 if rng.random() < 0.5 else top
        out, boxes, labels = place_one(rng, pick(), first, SIZE, 0.75, 1.7)
    else:
        seam = int(rng.integers(110, 211))
        out, boxes, labels = place_one(rng, pick(), 0, seam, 0.8, 1.4)
        low, boxes2, labels2 = place_one(rng, pick(), seam, SIZE, 0.8, 1.4)
        out[seam:] = low[seam:]
        boxes, labels = np.concatenate([boxes, boxes2]), np.concatenate([labels, labels2])
    return degrade(rng, color_jitter(rng, out)), boxes, labels


def make_batch(rng, pick, size, plain):
    """Arrays: images [B,SIZE,SIZE,3] float32 0..1, boxes, labels, mask (padded)."""
    images = np.empty((size, SIZE, SIZE, 3), np.float32)
    boxes = np.zeros((size, MAX_BOXES, 4), np.float32)
    labels = np.zeros((size, MAX_BOXES), np.int32)
    mask = np.zeros((size, MAX_BOXES), np.float32)
    for k in range(size):
        image, b, c = train_sample(rng, pick, plain)
        images[k] = image.astype(np.float32) / 255.0
        n = min(MAX_BOXES, len(b))
        boxes[k, :n], labels[k, :n], mask[k, :n] = b[:n], c[:n], 1.0
    return images, boxes, labels, mask
