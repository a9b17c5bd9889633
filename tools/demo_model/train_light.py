# SPDX-License-Identifier: Apache-2.0
"""Train the light of the image on the frozen backbone of the harbour detector.

The backbone's means over training scenes (letterboxed, and their middle squares) are
computed once; one linear layer is trained on them.
"""

import argparse

import cv2
import numpy as np
import tensorflow as tf

from augment import letterbox
from details import load_details
from export_heads import LIGHT_SIZE
from net import light
from tf_ops import TfOps
from train import Adam, learning_rate
from train_heads import trunk_weights


def middle(image):
    """The middle square of an image at the size of the network."""
    h, w = image.shape[:2]
    side = min(h, w)
    cut = image[(h - side) // 2:(h + side) // 2, (w - side) // 2:(w + side) // 2]
    return cv2.resize(np.ascontiguousarray(cut), (LIGHT_SIZE, LIGHT_SIZE),
                      interpolation=cv2.INTER_LINEAR)


class Means(TfOps):
    """Interpreter that keeps the means that the last layer reads."""

    def conv(self, name, x, *args, **kwargs):
        """The same, remembering the input of the layer `light`."""
        if name == "light":
            self.seen = x
        return super().conv(name, x, *args, **kwargs)


def means(ops, images):
    """Means [N,160] of images, 16 at a time."""
    run = tf.function(lambda x: (light(ops, x), ops.seen)[1])
    rows = []
    for i in range(0, len(images), 16):
        x = np.stack([middle(np.asarray(v)) for v in images[i:i + 16]]).astype(np.float32) / 255
        rows.append(run(tf.constant(x)).numpy()[:, 0, 0])
    return np.concatenate(rows)


def train(args):
    """Writes args.out (.npz)."""
    images, _, rows = load_details(args.data)
    labels = np.array([r["light"] for r in rows], np.int64)
    trunk = trunk_weights(args.detector)
    ops = Means(args.seed)
    light(ops, tf.zeros([1, LIGHT_SIZE, LIGHT_SIZE, 3]))
    ops.load({k: trunk.get(k, v) for k, v in ops.weights().items()})
    x = means(ops, images)
    x = tf.constant(np.concatenate([x, means(ops, [v[:, ::-1] for v in images])]))
    labels = tf.constant(np.concatenate([labels, labels]))
    last = {k: v for k, v in ops.params.items() if k.startswith("light.")}
    middle_x, spread = tf.reduce_mean(x, 0), tf.math.reduce_std(x, 0) + 1e-6
    scaled = (x - middle_x) / spread
    opt = Adam(last, {}, decay=2e-3)

    @tf.function
    def step(lr):
        with tf.GradientTape() as tape:
            logits = scaled @ last["light.w"][0, 0] + last["light.b"]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
        opt.apply(tape.gradient(loss, list(last.values())), lr)
        return loss
    for k in range(args.steps):
        loss = step(tf.constant(learning_rate(k, args.steps, 1e-2), tf.float32))
    print(f"loss {float(loss):.3f}")
    weight = last["light.w"] / spread[:, None]
    bias = last["light.b"] - tf.linalg.matvec(weight[0, 0], middle_x, transpose_a=True)
    np.savez(args.out, **{**ops.weights(), "light.w": weight.numpy(), "light.b": bias.numpy()})


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("detector", help="harbour.onnx")
    parser.add_argument("data", help="prefix that details.py wrote")
    parser.add_argument("out", help="weights file, .npz")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    train(args)


if __name__ == "__main__":
    main()
