# SPDX-License-Identifier: Apache-2.0
"""Train an SSD on the frozen backbone and neck of the harbour detector.

Data come from `details.py train`. Offsets have the usual variances 0.1 and 0.2; class 0 is the
background.
"""

import argparse
import queue
import threading
import time

import cv2
import numpy as np
import tensorflow as tf

from details import load_details
from net import CLASSES, PRIORS, SIZE, backbone, neck, priors, ssd
from tf_ops import TfOps, flat
from train import Adam, learning_rate
from train_heads import MOST, sample, trunk_weights

NEAR, FAR = 0.45, 0.35   # IoU of a prior that is an object, and of one that is background


def outputs(ops, images):
    """Offsets [B, N, 4] and logits [B, N, 1 + CLASSES] of all priors."""
    levels = [tf.stop_gradient(v) for v in neck(ops, *backbone(ops, images)[2:])]
    rows = lambda maps, size: tf.reshape(flat(maps, PRIORS, size), [images.shape[0], -1, size])
    offsets, logits = ssd(ops, levels)
    return rows(offsets, 4), rows(logits, 1 + CLASSES)


def overlaps(table, boxes):
    """IoU of priors [N, 4] (centre and size) and boxes [B, M, 4] (corners): [B, M, N]."""
    low, high = table[:, :2] - table[:, 2:] / 2, table[:, :2] + table[:, 2:] / 2
    sides = tf.maximum(tf.minimum(high, boxes[..., None, 2:]) -
                       tf.maximum(low, boxes[..., None, :2]), 0.0)
    inter = tf.reduce_prod(sides, -1)
    area = tf.reduce_prod(boxes[..., 2:] - boxes[..., :2], -1)[..., None]
    return inter / (area + tf.reduce_prod(table[:, 2:], -1) - inter + 1e-9)


def matched(table, boxes, valid):
    """Object of each prior [B, N], whether it is one, and whether it is background.

    A prior belongs to the object that it covers best, if IoU >= NEAR; the best prior of an
    object belongs to it at any IoU.
    """
    iou = overlaps(table, boxes) * valid[..., None]
    forced = tf.one_hot(tf.argmax(iou, -1), table.shape[0]) * \
        tf.cast(iou > 0.05, tf.float32)
    iou = iou + 2.0 * forced
    best = tf.reduce_max(iou, 1)
    return tf.argmax(iou, 1), tf.cast(best >= NEAR, tf.float32), tf.cast(best < FAR, tf.float32)


def losses(offsets, logits, table, boxes, labels, valid):
    """Smooth L1 of the offsets and focal cross entropy of the classes, by the objects' priors."""
    index, is_object, is_background = matched(table, boxes, valid)
    truth = tf.gather(boxes, index, batch_dims=1)
    centre, size = (truth[..., :2] + truth[..., 2:]) / 2, truth[..., 2:] - truth[..., :2]
    wanted = tf.concat([(centre - table[:, :2]) / (0.1 * table[:, 2:]),
                        tf.math.log(tf.maximum(size, 1e-4) / table[:, 2:]) / 0.2], -1)
    count = tf.reduce_sum(is_object) + 1.0
    gap = tf.abs(offsets - wanted)
    near = tf.reduce_sum(tf.where(gap < 1.0, 0.5 * gap * gap, gap - 0.5), -1)
    kind = tf.cast(1 + tf.gather(labels, index, batch_dims=1), tf.float32) * is_object
    logp = tf.nn.log_softmax(logits)
    logp = tf.gather(logp, tf.cast(kind, tf.int32), batch_dims=2)
    focal = -logp * (1.0 - tf.exp(logp)) ** 2 * (is_object + is_background)
    return tf.stack([tf.reduce_sum(near * is_object) / count, 2.0 * tf.reduce_sum(focal) / count])


def batch_of(rng, data, size):
    """Padded arrays: images, boxes as fractions of the input, labels, valid."""
    images, owners, rows = data
    pads = [np.zeros((size, SIZE, SIZE, 3), np.float32), np.zeros((size, MOST, 4), np.float32),
            np.zeros((size, MOST), np.int32), np.zeros((size, MOST), np.float32)]
    for k in range(size):
        i = int(rng.integers(len(rows)))
        image, objects = sample(rng, images[i], owners[i], rows[i])
        pads[0][k] = image.astype(np.float32) / 255
        for j, (box, label, *_) in enumerate(objects):
            pads[1][k, j], pads[2][k, j], pads[3][k, j] = np.array(box) / SIZE, label, 1.0
    return pads


def build(detector, seed):
    """Interpreter with the detector's trunk, and the variables of the heads."""
    ops = TfOps(seed)
    outputs(ops, tf.zeros([1, SIZE, SIZE, 3]))
    trunk = trunk_weights(detector)
    for k, v in {**ops.params, **ops.stats}.items():
        if k in trunk:
            v.assign(trunk[k])
            ops.frozen.add(k.rpartition(".")[0])
    return ops, {k: v for k, v in ops.params.items() if k not in trunk}


def train(args):
    """The training loop; writes args.out (.npz) at each check and at the end."""
    data = load_details(args.data)
    table = tf.constant(priors(), tf.float32)
    ops, free = build(args.detector, args.seed)
    opt = Adam(free, {k: v for k, v in ops.stats.items()
                      if k.rpartition(".")[0] not in ops.frozen}, average=0.99)
    ops.train = True

    @tf.function
    def step(images, boxes, labels, valid, lr):
        with tf.GradientTape() as tape:
            parts = losses(*outputs(ops, images), table, boxes, labels, valid)
            total = tf.reduce_sum(parts)
        opt.apply(tape.gradient(total, list(free.values())), lr)
        return parts

    batches, rng = queue.Queue(4), np.random.default_rng([args.seed, 2])
    threading.Thread(target=lambda: [batches.put(batch_of(rng, data, args.batch))
                                     for _ in range(args.steps)], daemon=True).start()
    save = lambda: np.savez(args.out, **{**ops.weights(),
                                         **{n: v.numpy() for n, v in opt.ema.items()}})
    start, sums = time.time(), []
    for k in range(args.steps):
        if time.time() - start > args.seconds:
            break
        done = max(k / args.steps, (time.time() - start) / args.seconds)
        rate = learning_rate(int(done * 2000) if k >= 100 else 2 * k, 2000, args.lr)
        sums.append(step(*map(tf.constant, batches.get()), tf.constant(rate, tf.float32)).numpy())
        if (k + 1) % 20 == 0:
            print(f"step {k + 1} {time.time() - start:.0f}s offsets/classes "
                  f"{np.round(np.mean(sums, 0), 3)}", flush=True)
            sums = []
        if (k + 1) % 100 == 0:
            save()
    save()


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("detector", help="harbour.onnx")
    parser.add_argument("data", help="prefix that details.py wrote")
    parser.add_argument("out", help="weights file, .npz")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=1e9, help="most seconds of training")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=4e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    train(args)


if __name__ == "__main__":
    main()
