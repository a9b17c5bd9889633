# SPDX-License-Identifier: Apache-2.0
"""Task-aligned assignment and the detection loss (BCE + CIoU + DFL).

Shapes: B images, M padded ground-truth boxes, A = 2100 anchors. Boxes are
xyxy in input pixels.
"""

import numpy as np
import tensorflow as tf

from net import BINS, CLASSES

TOP_K = 10
ALPHA, BETA = 0.5, 6.0
GAIN_BOX, GAIN_CLS, GAIN_DFL = 7.5, 0.5, 1.5
EPS = 1e-7


def ciou(a, b):
    """Complete IoU of broadcastable boxes [..., 4]."""
    ax1, ay1, ax2, ay2 = tf.unstack(a, axis=-1)
    bx1, by1, bx2, by2 = tf.unstack(b, axis=-1)
    aw, ah = ax2 - ax1, ay2 - ay1
    bw, bh = bx2 - bx1, by2 - by1
    iw = tf.maximum(tf.minimum(ax2, bx2) - tf.maximum(ax1, bx1), 0.0)
    ih = tf.maximum(tf.minimum(ay2, by2) - tf.maximum(ay1, by1), 0.0)
    inter = iw * ih
    iou = inter / (aw * ah + bw * bh - inter + EPS)
    cw = tf.maximum(ax2, bx2) - tf.minimum(ax1, bx1)
    ch = tf.maximum(ay2, by2) - tf.minimum(ay1, by1)
    gap = ((ax1 + ax2 - bx1 - bx2) ** 2 + (ay1 + ay2 - by1 - by2) ** 2) / 4.0
    turn = tf.atan(bw / (bh + EPS)) - tf.atan(aw / (ah + EPS))
    v = 4.0 / np.pi ** 2 * turn ** 2
    alpha = tf.stop_gradient(v / (v - iou + 1.0 + EPS))
    return iou - gap / (cw ** 2 + ch ** 2 + EPS) - v * alpha


def assign(scores, boxes, points, gt_boxes, gt_labels, gt_mask):
    """Task-aligned assignment.

    scores [B,A,C] probabilities, boxes [B,A,4]; gt_* [B,M,...], gt_mask 0/1.
    Returns (target boxes [B,A,4], target scores [B,A,C], positive [B,A], index [B,A]
    of the ground truth).
    """
    half = tf.maximum((gt_boxes[..., 2:] - gt_boxes[..., :2]) / 2.0, 5.0)
    centre = (gt_boxes[..., 2:] + gt_boxes[..., :2]) / 2.0
    off = tf.abs(points[None, None] - centre[:, :, None])
    inside = tf.reduce_all(off < half[:, :, None], -1)
    inside = tf.cast(inside, tf.float32) * gt_mask[..., None]
    iou = tf.maximum(ciou(gt_boxes[:, :, None], boxes[:, None]), 0.0) * inside
    per_gt = tf.einsum("bac,bmc->bma", scores, tf.one_hot(gt_labels, CLASSES))
    align = (per_gt ** ALPHA * iou ** BETA + 1e-9) * inside
    kth = tf.math.top_k(align, TOP_K).values[..., -1:]
    chosen = tf.cast((align >= kth) & (align > 0), tf.float32) * inside
    best = tf.one_hot(tf.argmax(iou * chosen + 1e-6 * chosen, axis=1), gt_boxes.shape[1], axis=1)
    chosen = chosen * best
    positive = tf.reduce_sum(chosen, 1)
    align = align * chosen
    peak_align = tf.reduce_max(align, -1, keepdims=True)
    peak_iou = tf.reduce_max(iou * chosen, -1, keepdims=True)
    quality = tf.reduce_sum(align / (peak_align + 1e-12) * peak_iou, 1)
    index = tf.argmax(chosen, axis=1)
    target_boxes = tf.gather(gt_boxes, index, batch_dims=1)
    label = tf.gather(gt_labels, index, batch_dims=1)
    target_scores = tf.one_hot(label, CLASSES) * (quality * positive)[..., None]
    return target_boxes, target_scores, positive, index


def dfl(dist_logits, target):
    """Distribution focal loss [B,A]; target distances in strides [B,A,4]."""
    target = tf.clip_by_value(target, 0.0, BINS - 1.01)
    low = tf.floor(target)
    up = target - low
    logp = tf.nn.log_softmax(dist_logits)
    one = tf.one_hot(tf.cast(low, tf.int32), BINS) * (1 - up)[..., None] + \
        tf.one_hot(tf.cast(low, tf.int32) + 1, BINS) * up[..., None]
    return tf.reduce_mean(-tf.reduce_sum(one * logp, -1), -1)


def detection_loss(dist_logits, cls_logits, boxes, points, strides, gt):
    """Total loss and its parts [cls, box, dfl]; gt = (boxes, labels, mask)."""
    target_boxes, target_scores, positive, _ = [tf.stop_gradient(v) for v in assign(
        tf.sigmoid(tf.stop_gradient(cls_logits)), tf.stop_gradient(boxes), points, *gt)]
    norm = tf.maximum(tf.reduce_sum(target_scores), 1.0)
    bce = tf.nn.sigmoid_cross_entropy_with_logits(target_scores, cls_logits)
    cls = tf.reduce_sum(bce) / norm
    weight = tf.reduce_sum(target_scores, -1) * positive
    box = tf.reduce_sum((1.0 - ciou(boxes, target_boxes)) * weight) / norm
    ltrb = tf.concat([points[None] - target_boxes[..., :2], target_boxes[..., 2:] - points[None]],
                     -1) / strides[None, :, None]
    spread = tf.reduce_sum(dfl(dist_logits, ltrb) * weight) / norm
    total = GAIN_CLS * cls + GAIN_BOX * box + GAIN_DFL * spread
    return total, tf.stack([cls, box, spread])
