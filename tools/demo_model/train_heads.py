# SPDX-License-Identifier: Apache-2.0
"""Train masks, keypoints and rotated boxes on the frozen trunk of the harbour detector.

The trunk (backbone, neck and detection heads) is read from harbour.onnx. Data come
from `details.py train`; one run trains the three kinds of heads side by side.
"""

import argparse
import queue
import threading
import time

import cv2
import numpy as np
import onnx
import tensorflow as tf
from onnx import numpy_helper

from augment import PAD, color_jitter, degrade
from details import load_details
from loss import assign, ciou, dfl
from net import (BINS, CLASSES, COEFS, POINTS, SIZE, anchor_points, backbone, detect, head, neck,
                 prototypes)
from tf_ops import BN_EPS, TfOps, decode, flat
from train import Adam, learning_rate

MOST = 24        # objects of an image that are learned from
TASKS = {"masks": (".coef", "proto."), "points": (".point",),
         "rotated": (".rbox", ".rcls", ".angle")}   # the layers of each
PICKS = 24       # anchors of an image that masks, points and angles are learned from
SPAN = 28        # rows and columns of the mask of an object, over its box


def trunk_weights(path):
    """Variables of the trunk from the folded weights of an exported detector."""
    arrays = {}
    for constant in onnx.load(path).graph.initializer:
        name, _, part = constant.name.rpartition(".")
        value = numpy_helper.to_array(constant)
        if part == "weight":
            arrays[name + ".w"] = value.transpose(2, 3, 1, 0)
        elif part == "bias":
            arrays[name + ".b"] = arrays[name + ".beta"] = value
            arrays[name + ".gamma"] = np.ones_like(value)
            arrays[name + ".mean"] = np.zeros_like(value)
            arrays[name + ".var"] = np.full_like(value, 1 - BN_EPS)
    return arrays


def heads(ops, images):
    """Dict of all head outputs, flat over the anchors, and the prototypes."""
    p1, p2, *pyramid = backbone(ops, images)
    levels = [tf.stop_gradient(v) for v in neck(ops, *pyramid)]
    found = dict(zip(("dist", "cls"), zip(*detect(ops, levels))))
    found.update(zip(("rdist", "rcls"), zip(*detect(ops, levels, "rbox", "rcls"))))
    for name, count in (("coef", COEFS), ("point", 3 * POINTS), ("angle", 1)):
        found[name] = [head(ops, k, name, x, count) for k, x in enumerate(levels)]
    shapes = {"dist": (4, BINS), "rdist": (4, BINS), "cls": (CLASSES,), "rcls": (CLASSES,),
              "coef": (COEFS,), "point": (POINTS, 3), "angle": (1,)}
    out = {k: flat(v, *shapes[k]) for k, v in found.items()}
    out["proto"] = prototypes(ops, tf.stop_gradient(p1), tf.stop_gradient(p2), levels[0])
    return out


def placement(rng, width, height):
    """Random similarity of an image into the input: 2x3 matrix over outer coordinates,
    scale, angle (radians, clockwise) and whether it mirrors."""
    plain = rng.random() < 0.3
    scale = SIZE / width * (1.0 if plain else float(np.exp(rng.uniform(-0.3, 0.5))))
    angle = 0.0 if plain or rng.random() < 0.4 else float(rng.uniform(-0.4, 0.4))
    flip = rng.random() < 0.5
    c, s = scale * np.cos(angle), scale * np.sin(angle)
    matrix = np.array([[c, -s], [s, c]]) @ np.diag([-1.0 if flip else 1.0, 1.0])
    free = np.maximum(0, np.array([width, height]) * scale - SIZE) / 2 * (not plain)
    middle = SIZE / 2 + rng.uniform(-1, 1, 2) * np.maximum(free, 0 if plain else 30)
    shift = middle - matrix @ np.array([width / 2, height / 2])
    return np.hstack([matrix, shift[:, None]]), scale, angle, flip


def warped(image, matrix, flags, border):
    """An image under a matrix over outer coordinates."""
    centre = matrix.copy()
    centre[:, 2] += matrix[:, :2].sum(1) / 2 - 0.5
    return cv2.warpAffine(np.ascontiguousarray(image), centre, (SIZE, SIZE), flags=flags,
                          borderValue=border)


def moved_points(points, matrix, flip):
    """Keypoints [3, 3] in input pixels; those outside of the input are absent."""
    rows = np.array(points, np.float32).reshape(POINTS, 3)
    rows[:, :2] = rows[:, :2] @ matrix[:, :2].T + matrix[:, 2]
    inside = ((rows[:, :2] >= 0) & (rows[:, :2] < SIZE)).all(1)
    rows[:, 2] = (rows[:, 2] > 0) & inside
    return rows[[1, 0, 2]] if flip else rows


def grown(box):
    """The rectangle of an object's mask: its box, larger by an eighth and 2 pixels."""
    box = np.array(box, float)
    edge = (box[2:] - box[:2]) / 16 + 1
    return np.concatenate([box[:2] - edge, box[2:] + edge])


def local_mask(owner, number, matrix, box):
    """Shares [SPAN, SPAN] of the pixels of object `number` in the cells of a rectangle of the
    input."""
    fine = 2 * SPAN
    scale = fine / (box[2:] - box[:2])
    local = scale[:, None] * matrix
    local[:, 2] -= scale * box[:2]
    local[:, 2] += local[:, :2].sum(1) / 2 - 0.5
    mask = cv2.warpAffine((owner == number).astype(np.float32), local, (fine, fine),
                          flags=cv2.INTER_LINEAR)
    return cv2.resize(mask, (SPAN, SPAN), interpolation=cv2.INTER_AREA)


def sample(rng, image, owner, row):
    """One augmented image with its truths: list of (box, class, rbox, points, mask)."""
    matrix, scale, angle, flip = placement(rng, image.shape[1], image.shape[0])
    out = warped(image, matrix, cv2.INTER_AREA, (PAD,) * 3)
    seen = warped(owner, matrix, cv2.INTER_NEAREST, 0)
    objects = []
    for obj in row["objects"][:MOST]:
        ys, xs = np.nonzero(seen == obj["id"])
        if len(ys) < 6:
            continue
        box = [xs.min(), ys.min(), xs.max() + 1, ys.max() + 1]
        cx, cy, w, h, turn = obj["rbox"]
        centre = matrix[:, :2] @ [cx, cy] + matrix[:, 2]
        rbox = [*centre, w * scale, h * scale, angle + (-turn if flip else turn)]
        points = moved_points(obj["points"], matrix, flip) if "points" in obj else \
            np.zeros((POINTS, 3))
        objects.append((box, obj["class"], rbox, points,
                        local_mask(owner, obj["id"], matrix, grown(box))))
    return degrade(rng, color_jitter(rng, out)), objects


def batch_of(rng, data, size):
    """Padded arrays: images, boxes, labels, valid, rboxes, points, masks."""
    images, owners, rows = data
    pads = [np.zeros((size, SIZE, SIZE, 3), np.float32), np.zeros((size, MOST, 4), np.float32),
            np.zeros((size, MOST), np.int32), np.zeros((size, MOST), np.float32),
            np.zeros((size, MOST, 5), np.float32), np.zeros((size, MOST, POINTS, 3), np.float32),
            np.zeros((size, MOST, SPAN, SPAN), np.float32)]
    for k in range(size):
        i = int(rng.integers(len(rows)))
        image, objects = sample(rng, images[i], owners[i], rows[i])
        pads[0][k] = image.astype(np.float32) / 255
        for j, (box, label, rbox, points, mask) in enumerate(objects):
            for pad, value in zip(pads[1:], (box, label, 1.0, rbox, points, mask)):
                pad[k, j] = value
    return pads


def mask_loss(coef, proto, masks, boxes):
    """Cross entropy and Dice of the masks over the grown boxes [B,K].

    The logits are interpolated at the middles of the cells of `masks`.
    """
    side = proto.shape[1]
    low, high = boxes[..., :2], boxes[..., 2:]
    edge = (high - low) / 16.0 + 1.0
    low, high = low - edge, high + edge
    half = (high - low) / (2.0 * SPAN)
    at = lambda v: (v * (side / SIZE) - 0.5) / (side - 1.0)
    ends = tf.reverse(at(tf.stack([low + half, high - half], 2)), [3])    # y1 x1 y2 x2
    count = boxes.shape[0] * boxes.shape[1]
    crops = tf.image.crop_and_resize(proto, tf.reshape(ends, [count, 4]),
                                     tf.repeat(tf.range(boxes.shape[0]), boxes.shape[1]),
                                     [SPAN, SPAN])
    logits = tf.einsum("nhwc,nc->nhw", crops, tf.reshape(coef, [count, -1]))
    logits = tf.reshape(logits, masks.shape)
    each = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(masks, logits), [2, 3])
    probs = tf.sigmoid(logits)
    total = lambda v: tf.reduce_sum(v, [2, 3])
    return each + 1.0 - (2.0 * total(probs * masks) + 1.0) / (total(probs) + total(masks) + 1.0)


def point_loss(raw, points, anchors, strides, boxes):
    """Distance by the size of the object and cross entropy of the visibility [B,K]."""
    where = raw[..., :2] * 2.0 * strides[..., None, None] + \
        (anchors - 0.5 * strides[..., None])[..., None, :]
    size = tf.sqrt(tf.reduce_prod(tf.maximum(boxes[..., 2:] - boxes[..., :2], 3.0), -1))
    seen = points[..., 2]
    far = tf.sqrt(tf.reduce_sum((where - points[..., :2]) ** 2, -1) + 1e-6) / size[..., None]
    near = (1.0 - tf.exp(-(far / 0.1) ** 2 / 2.0) + far) * seen
    sure = tf.nn.sigmoid_cross_entropy_with_logits(seen, raw[..., 2])
    return tf.reduce_sum(near, -1) + 0.2 * tf.reduce_sum(sure, -1)


def rotated_loss(logits, angle, rboxes, anchors, strides):
    """CIoU and focal distribution in the frame of the truth, and the angle's error [B,K]."""
    c, s = tf.cos(rboxes[..., 4]), tf.sin(rboxes[..., 4])
    gap = rboxes[..., :2] - anchors
    middle = tf.stack([gap[..., 0] * c + gap[..., 1] * s, gap[..., 1] * c - gap[..., 0] * s], -1)
    half = rboxes[..., 2:4] / 2.0
    truth = tf.concat([half - middle, half + middle], -1) / strides[..., None]
    bins = tf.range(BINS, dtype=tf.float32)
    dist = tf.reduce_sum(tf.nn.softmax(logits) * bins, -1)
    corners = lambda d: tf.concat([-d[..., :2], d[..., 2:]], -1)
    turn = (tf.sigmoid(angle) - 0.25) * np.pi - rboxes[..., 4]
    return 5.0 * (1.0 - ciou(corners(dist), corners(truth))) + 1.5 * dfl(logits, truth) + \
        8.0 * (1.0 - tf.cos(2.0 * turn))


def make_step(ops, opt, points, strides, tasks):
    """Compiled training step: (arrays of batch_of, lr) -> losses of the tasks."""
    @tf.function
    def step(images, boxes, labels, valid, rboxes, keypoints, masks, lr):
        with tf.GradientTape() as tape:
            out = heads(ops, images)
            found = decode(out["dist"], points, strides)
            _, scores, positive, index = assign(tf.sigmoid(out["cls"]), found, points, boxes,
                                                labels, valid)
            noise = tf.random.uniform(tf.shape(positive)) * positive
            pick = tf.math.top_k(noise, PICKS).indices
            take = lambda v: tf.gather(v, pick, batch_dims=1)
            truth = lambda v: tf.gather(v, take(index), batch_dims=1)
            use = take(positive)
            at, stride = tf.gather(points, pick), tf.gather(strides, pick)
            mean = lambda v: tf.reduce_sum(v * use) / (tf.reduce_sum(use) + 1.0)
            bce = tf.nn.sigmoid_cross_entropy_with_logits(scores, out["rcls"])
            leaning = mean(rotated_loss(take(out["rdist"]), take(out["angle"])[..., 0],
                                       truth(rboxes), at, stride))
            parts = {
                "masks": 4.0 * mean(mask_loss(take(out["coef"]), out["proto"], truth(masks),
                                              truth(boxes))),
                "points": 2.0 * mean(point_loss(take(out["point"]), truth(keypoints), at, stride,
                                                truth(boxes)) *
                                     tf.cast(truth(labels) == 0, tf.float32)),
                "rotated": leaning + 0.5 * tf.reduce_sum(bce) /
                tf.maximum(tf.reduce_sum(scores), 1.0)}
            parts = [parts[name] for name in tasks]
            total = tf.add_n(parts)
        opt.apply(tape.gradient(total, list(opt.vars.values())), lr)
        return tf.stack(parts)
    return step


def build(detector, seed):
    """Interpreter with all heads, and the variables to train.

    The trunk is the detector's; new heads are random but for the rotated ones, which start
    as the detector's own.
    """
    ops = TfOps(seed)
    heads(ops, tf.zeros([1, SIZE, SIZE, 3]))
    trunk = trunk_weights(detector)
    for k, v in {**ops.params, **ops.stats}.items():
        source = k.replace(".rbox", ".box").replace(".rcls", ".cls")
        if source in trunk:
            v.assign(trunk[source])
            ops.frozen.add(k.rpartition(".")[0])
    return ops, {k: v for k, v in ops.params.items() if k not in trunk}


def train(args):
    """The training loop; writes args.out (.npz) at each check and at the end."""
    data = load_details(args.data)
    points, strides = [tf.constant(v, tf.float32) for v in anchor_points()]
    ops, free = build(args.detector, args.seed)
    if args.start:
        ops.load(dict(np.load(args.start)))
    mine = tuple(part for task in args.tasks for part in TASKS[task])
    learned = lambda group: {k: v for k, v in group.items() if any(part in k for part in mine)}
    opt = Adam(learned(free), {k: v for k, v in learned(ops.stats).items()
                               if k.rpartition(".")[0] not in ops.frozen}, average=0.99)
    ops.train = True
    step = make_step(ops, opt, points, strides, args.tasks)
    batches, rng = queue.Queue(4), np.random.default_rng([args.seed, 1])
    threading.Thread(target=lambda: [batches.put(batch_of(rng, data, args.batch))
                                     for _ in range(args.steps)], daemon=True).start()
    start, sums = time.time(), []
    for k in range(args.steps):
        if time.time() - start > args.seconds:
            break
        done = max(k / args.steps, (time.time() - start) / args.seconds)
        rate = learning_rate(int(done * 2000) if k >= 100 else 2 * k, 2000, args.lr)
        sums.append(step(*map(tf.constant, batches.get()), tf.constant(rate, tf.float32)).numpy())
        if (k + 1) % 20 == 0:
            print(f"step {k + 1} {time.time() - start:.0f}s {'/'.join(args.tasks)} "
                  f"{np.round(np.mean(sums, 0), 3)}", flush=True)
            sums = []
        if (k + 1) % 100 == 0:
            np.savez(args.out, **{**ops.weights(), **{n: v.numpy() for n, v in opt.ema.items()}})
    np.savez(args.out, **{**ops.weights(), **{n: v.numpy() for n, v in opt.ema.items()}})


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("detector", help="harbour.onnx")
    parser.add_argument("data", help="prefix that details.py wrote")
    parser.add_argument("out", help="weights file, .npz")
    parser.add_argument("--tasks", nargs="+", choices=list(TASKS), default=list(TASKS))
    parser.add_argument("--start", help="weights to start from, .npz of an earlier run")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seconds", type=float, default=1e9, help="most seconds of training")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    train(args)


if __name__ == "__main__":
    main()
