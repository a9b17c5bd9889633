# SPDX-License-Identifier: Apache-2.0
"""TensorFlow interpreter of net.network, with its parameters.

Images are NHWC float32 in 0..1. Every convolution but the last ones of the
heads is followed by batch norm and SiLU.
"""

import numpy as np
import tensorflow as tf

from net import BINS, CLASSES, network

BN_EPS = 1e-3
BN_MOMENTUM = 0.97


class TfOps:
    """Holds the variables; `train` says whether batch norms use batch statistics.

    Layers named in `frozen` never do.
    """

    def __init__(self, seed=0):
        self.params, self.stats = {}, {}
        self.train = False
        self.frozen = set()
        self.rng = np.random.default_rng(seed)

    def _variables(self, name, cin, cout, k, plain):
        scale = np.sqrt(2.0 / (k * k * cin))
        weight = self.rng.standard_normal((k, k, cin, cout)) * (0.01 if plain else scale)
        make = lambda v: tf.Variable(np.asarray(v, np.float32))
        self.params[name + ".w"] = make(weight)
        if plain:
            prior = np.zeros(cout)
            if name.endswith("cls2"):
                prior += np.log(0.01 / 0.99)
            elif name.endswith("box2"):
                prior = np.tile(np.linspace(1.0, -1.0, BINS), 4)
            elif name.endswith("kind2"):
                prior = np.tile([np.log(0.99 / 0.01)] + [0.0] * CLASSES, cout // (1 + CLASSES))
            self.params[name + ".b"] = make(prior)
            return
        self.params[name + ".gamma"] = make(np.ones(cout))
        self.params[name + ".beta"] = make(np.zeros(cout))
        self.stats[name + ".mean"] = tf.Variable(np.zeros(cout, np.float32), trainable=False)
        self.stats[name + ".var"] = tf.Variable(np.ones(cout, np.float32), trainable=False)

    def conv(self, name, x, cin, cout, k, stride=1, plain=False):
        """Convolution k x k with padding k // 2; plain: with bias, nothing after."""
        if name + ".w" not in self.params:
            self._variables(name, cin, cout, k, plain)
        pad = "SAME" if stride == 1 else [[0, 0], [k // 2] * 2, [k // 2] * 2, [0, 0]]
        y = tf.nn.conv2d(x, self.params[name + ".w"], stride, pad)
        if plain:
            return y + self.params[name + ".b"]
        gamma, beta = self.params[name + ".gamma"], self.params[name + ".beta"]
        mean, var = self.stats[name + ".mean"], self.stats[name + ".var"]
        norm = tf.compat.v1.nn.fused_batch_norm
        if self.train and name not in self.frozen:
            y, m, v = norm(y, gamma, beta, epsilon=BN_EPS, is_training=True)
            mean.assign(BN_MOMENTUM * mean + (1 - BN_MOMENTUM) * m)
            var.assign(BN_MOMENTUM * var + (1 - BN_MOMENTUM) * v)
        else:
            y, _, _ = norm(y, gamma, beta, mean, var, epsilon=BN_EPS, is_training=False)
        return tf.nn.silu(y)

    def split(self, x, half):
        """Two parts of `half` channels each."""
        return tf.split(x, [half, half], axis=-1)

    def concat(self, parts):
        """Concatenation of channels."""
        return tf.concat(parts, axis=-1)

    def add(self, a, b):
        """Sum of two maps of one shape."""
        return a + b

    def upsample(self, x):
        """Nearest neighbour, twice the size."""
        return tf.image.resize(x, [2 * x.shape[1], 2 * x.shape[2]], method="nearest")

    def maxpool(self, x, k):
        """k x k maximum, stride 1, same size."""
        return tf.nn.max_pool2d(x, k, 1, "SAME")

    def mean(self, x):
        """Mean over rows and columns, kept as a map of one cell."""
        return tf.reduce_mean(x, [1, 2], keepdims=True)

    def weights(self):
        """All variables as a dict of numpy arrays."""
        return {k: v.numpy() for k, v in {**self.params, **self.stats}.items()}

    def load(self, arrays):
        """Set all variables from a dict of arrays (after one build call)."""
        for k, v in {**self.params, **self.stats}.items():
            v.assign(arrays[k])


def flat(maps, *shape):
    """Maps of all levels as one [B, 2100, *shape]."""
    return tf.concat([tf.reshape(m, [m.shape[0], m.shape[1] * m.shape[2], *shape])
                      for m in maps], 1)


def flat_heads(ops, images):
    """Distance logits [B, 2100, 4, BINS] and class logits [B, 2100, CLASSES]."""
    boxes, classes = zip(*network(ops, images))
    return flat(boxes, 4, BINS), flat(classes, CLASSES)


def decode(dist_logits, points, strides):
    """Boxes xyxy in pixels [B, A, 4] from distance logits."""
    bins = tf.range(BINS, dtype=tf.float32)
    dist = tf.reduce_sum(tf.nn.softmax(dist_logits) * bins, -1) * strides[None, :, None]
    return tf.concat([points[None] - dist[..., :2], points[None] + dist[..., 2:]], -1)
