# SPDX-License-Identifier: Apache-2.0
"""Train the harbour detector on rendered scenes and save its weights (.npz).

Data come from `render.py train` and `render.py val`; the held-out set and the
clip are never read here.
"""

import argparse
import json
import queue
import threading
import time

import cv2
import numpy as np
import tensorflow as tf

from augment import letterbox, make_batch
from loss import detection_loss
from metrics import detections, mean_ap
from net import CLASSES, SIZE, anchor_points
from tf_ops import TfOps, decode, flat_heads


def load_set(prefix):
    """Images (memory-mapped) and truths [(boxes, labels)] in image pixels."""
    images = np.load(prefix + ".npy", mmap_mode="r")
    with open(prefix + ".json") as f:
        rows = json.load(f)
    truths = [(np.array([o["box"] for o in row], np.float32).reshape(-1, 4),
               np.array([o["class"] for o in row], np.int64)) for row in rows]
    return images, truths


class Adam:
    """AdamW with a global-norm clip and an exponential average of the weights."""

    def __init__(self, variables, stats, decay=5e-4, average=0.998):
        self.vars, self.stats, self.decay, self.average = variables, stats, decay, average
        zeros = lambda v: tf.Variable(tf.zeros_like(v), trainable=False)
        self.m = {k: zeros(v) for k, v in variables.items()}
        self.v = {k: zeros(v) for k, v in variables.items()}
        self.ema = {k: tf.Variable(v, trainable=False) for k, v in {**variables, **stats}.items()}
        self.step = tf.Variable(0.0)

    def apply(self, grads, lr):
        """One update; grads in the order of the variables, lr scalar tensor."""
        grads, _ = tf.clip_by_global_norm(grads, 10.0)
        self.step.assign_add(1.0)
        c1, c2 = 1 - 0.9 ** self.step, 1 - 0.999 ** self.step
        for (k, var), g in zip(self.vars.items(), grads):
            self.m[k].assign(0.9 * self.m[k] + 0.1 * g)
            self.v[k].assign(0.999 * self.v[k] + 0.001 * g * g)
            delta = self.m[k] / c1 / (tf.sqrt(self.v[k] / c2) + 1e-8)
            if k.endswith(".w"):
                delta += self.decay * 10 * var
            var.assign_sub(lr * delta)
        keep = tf.minimum(self.average, (1 + self.step) / (10 + self.step))
        for k, var in {**self.vars, **self.stats}.items():
            self.ema[k].assign(keep * self.ema[k] + (1 - keep) * var)


def make_step(ops, opt, points, strides):
    """Compiled training step: (batch arrays, lr) -> loss parts [3]."""
    @tf.function
    def step(images, boxes, labels, mask, lr):
        with tf.GradientTape() as tape:
            dist, cls = flat_heads(ops, images)
            found = decode(dist, points, strides)
            total, parts = detection_loss(dist, cls, found, points, strides,
                                          (boxes, labels, mask))
        opt.apply(tape.gradient(total, list(ops.params.values())), lr)
        return parts
    return step


def producer(out, images, truths, seed, batch, steps, tail):
    """Fill the queue with batches; the last `tail` share is mostly plain letterbox."""
    rng = np.random.default_rng([seed, 0])
    def pick():
        i = int(rng.integers(len(truths)))
        return (np.asarray(images[i]), *truths[i])
    for k in range(steps):
        out.put(make_batch(rng, pick, batch, 0.25 if k < steps * (1 - tail) else 0.8))


def validate(ops, opt, infer, images, truths):
    """mAP of the averaged weights on the monitoring set."""
    kept = ops.weights()
    ops.load({k: v.numpy() for k, v in opt.ema.items()})
    found, gts = [], []
    for i in range(0, len(truths), 10):
        boxed = [letterbox(np.asarray(p)) for p in images[i:i + 10]]
        outs = infer(tf.constant(np.stack([b[0] for b in boxed]).astype(np.float32) / 255)).numpy()
        for out, (_, r, left, top), (boxes, labels) in zip(outs, boxed, truths[i:i + 10]):
            found.append(detections(out))
            gts.append((boxes * r + np.float32([left, top, left, top]), labels))
    ops.load(kept)
    return mean_ap(found, gts, CLASSES)


def make_infer(ops, points, strides):
    """Compiled inference: images [10,320,320,3] -> output0-like [10,7,2100]."""
    @tf.function
    def infer(images):
        dist, cls = flat_heads(ops, images)
        box = decode(dist, points, strides)
        centre, size = (box[..., :2] + box[..., 2:]) / 2, box[..., 2:] - box[..., :2]
        return tf.transpose(tf.concat([centre, size, tf.sigmoid(cls)], -1), [0, 2, 1])
    return infer


def learning_rate(k, steps, peak):
    """Warm-up over 200 steps, then cosine down to 2 % of the peak."""
    if k < 200:
        return peak * (k + 1) / 200
    return peak * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * (k - 200) / max(1, steps - 200))))


def train(args):
    """The training loop; writes args.out (.npz) at each check and at the end."""
    images, truths = load_set(args.data + "/train")
    val_images, val_truths = load_set(args.data + "/val")
    points, strides = [tf.constant(v, tf.float32) for v in anchor_points()]
    ops = TfOps(args.seed)
    flat_heads(ops, tf.zeros([1, SIZE, SIZE, 3]))
    print("parameters:", sum(int(np.prod(v.shape)) for v in ops.params.values()), flush=True)
    opt = Adam(ops.params, ops.stats)
    ops.train = False
    infer = make_infer(ops, points, strides)
    infer(tf.zeros([10, SIZE, SIZE, 3]))
    ops.train = True
    step = make_step(ops, opt, points, strides)
    batches = queue.Queue(6)
    threading.Thread(target=producer, args=(batches, images, truths, args.seed, args.batch,
                                            args.steps, 0.15), daemon=True).start()
    start, sums = time.time(), np.zeros(3)
    last = min(args.steps, args.stop)
    for k in range(last):
        lr = tf.constant(learning_rate(k, args.steps, args.lr), tf.float32)
        sums += step(*map(tf.constant, batches.get()), lr).numpy()
        if (k + 1) % 100 == 0:
            print(f"step {k + 1} {time.time() - start:.0f}s cls/box/dfl "
                  f"{np.round(sums / 100, 3)}", flush=True)
            sums[:] = 0
        if (k + 1) % args.check == 0 or k + 1 == last:
            np.savez(args.out, **{n: v.numpy() for n, v in opt.ema.items()})
            result = validate(ops, opt, infer, val_images, val_truths)
            print(f"step {k + 1} val mAP50 {result['map50']:.4f} mAP {result['map']:.4f} "
                  f"ap50 {np.round(result['ap50'], 3)}", flush=True)


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder with train.npy/.json and val.npy/.json")
    parser.add_argument("out", help="weights file, .npz")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--stop", type=int, default=10 ** 9,
                        help="end after this many steps of the schedule")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2.5e-3)
    parser.add_argument("--check", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    train(args)


if __name__ == "__main__":
    main()
