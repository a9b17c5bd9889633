# SPDX-License-Identifier: Apache-2.0
"""Non-maximum suppression and average precision (COCO-style, 101 points).

Boxes are xyxy float arrays in any one unit.
"""

import hashlib

import numpy as np

THRESHOLDS = np.arange(0.5, 0.96, 0.05)
# Rules of `halyard val`, for detections() and chosen().
VAL_RULES = {"iou": 0.7, "most": 300, "every_class": True}


def iou_matrix(a, b):
    """IoU of boxes a [N,4] against b [M,4]: [N,M]."""
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.clip(high - low, 0, None).prod(-1)
    area = lambda x: (x[:, 2:] - x[:, :2]).prod(-1)
    return inter / np.maximum(area(a)[:, None] + area(b)[None] - inter, 1e-9)


def nms(boxes, scores, limit, most):
    """Greedy suppression above IoU `limit`; indices of the first `most` kept, best first."""
    order = np.argsort(-scores, kind="stable")
    keep = []
    while len(order) and len(keep) < most:
        keep.append(order[0])
        order = order[1:][iou_matrix(boxes[order[:1]], boxes[order[1:]])[0] <= limit]
    return np.array(keep, int)


def detections(output, **rules):
    """Detections of one output [4+C, A] by rules of chosen(): boxes [N,4], scores [N],
    classes [N]."""
    return chosen(output[:4], output[4:], **rules)[1:]


def prob_iou(a, b):
    """Probabilistic IoU of rotated boxes [cx, cy, w, h, angle]: [N,M]; 1 less the Hellinger
    distance of their normal distributions (Llerena et al., 2021), as Ultralytics compares them."""
    def parts(r):
        w, h, c, s = r[:, 2] ** 2 / 12, r[:, 3] ** 2 / 12, np.cos(r[:, 4]), np.sin(r[:, 4])
        return w * c * c + h * s * s, w * s * s + h * c * c, (w - h) * c * s
    a1, b1, c1 = (v[:, None] for v in parts(a))
    a2, b2, c2 = (v[None] for v in parts(b))
    dx, dy = (a[:, None, k] - b[None, :, k] for k in (0, 1))
    joint = (a1 + a2) * (b1 + b2) - (c1 + c2) ** 2
    far = ((a1 + a2) * dy ** 2 + (b1 + b2) * dx ** 2 - 2 * (c1 + c2) * dx * dy) / joint / 4
    own = np.sqrt(np.maximum((a1 * b1 - c1 ** 2) * (a2 * b2 - c2 ** 2), 0))
    far = far + np.maximum(np.log(joint / (4 * own + 1e-12) + 1e-12) / 2, 0)
    return 1 - np.sqrt(1 - np.exp(-np.clip(far, 0, 100)))


def fast_nms(boxes, scores, limit):
    """Indices of rotated boxes, best first, that overlap no better one by `limit` or more."""
    order = np.argsort(-scores, kind="stable")
    overlap = np.triu(prob_iou(boxes[order], boxes[order]), 1)
    return order[(overlap < limit).all(0)]


def chosen(places, probs, score=0.001, iou=0.6, most=100, every_class=False, angles=None):
    """Detections of centres and sizes [4, A] and probabilities [C, A].

    Anchors [N], boxes [N,4], scores [N], classes [N]; suppression per class. One class per
    anchor (the best), of at most 1000 candidates, or every class above the score. With angles
    [A] every class is suppressed as rotated boxes are, by fast_nms().
    """
    pick, cls, best = candidates(probs, score, every_class)
    cx, cy, w, h = places[:, pick]
    boxes = np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)
    nms_of = lambda mine: nms(boxes[mine], best[mine], iou, most)
    if angles is not None and every_class:
        rows = np.vstack([places, angles])[:, pick].T.astype(np.float64)
        nms_of = lambda mine: fast_nms(rows[mine], best[mine], iou)
    kept = suppressed(cls, best, most, nms_of)
    return pick[kept], boxes[kept], best[kept], cls[kept]


def candidates(probs, score, every_class):
    """Anchors, classes and probabilities above a score, best first."""
    if every_class:
        pick, cls = np.nonzero(probs.T > score)
        order = np.argsort(-probs[cls, pick], kind="stable")[:30000]
        pick, cls = pick[order], cls[order]
        return pick, cls, probs[cls, pick]
    best = probs.max(0)
    pick = np.nonzero(best > score)[0]
    pick = pick[np.argsort(-best[pick], kind="stable")][:1000]
    return pick, probs.argmax(0)[pick], best[pick]


def suppressed(cls, best, most, nms_of):
    """Indices that nms_of keeps of each class, best first, at most `most`."""
    kept = []
    for c in np.unique(cls):
        mine = np.nonzero(cls == c)[0]
        kept.extend(mine[nms_of(mine)])
    return np.array(sorted(kept, key=lambda i: -best[i])[:most], int)


def _match(found, truth, threshold, similarity, ignored):
    """Flags of one image's finds of one class, best score first: right, and not counted.

    A find takes the most similar free truth; an ignored one only if there is no other.
    """
    hit, skip = np.zeros(len(found), bool), np.zeros(len(found), bool)
    if not len(truth) or not len(found):
        return hit, skip
    alike = similarity(found, truth)
    taken = np.zeros(len(truth), bool)
    for i in range(len(found)):
        for group in (~ignored, ignored):
            free = np.where(group & ~taken, alike[i], -1.0)
            j = int(free.argmax())
            if free[j] >= threshold:
                taken[j], hit[i], skip[i] = True, True, ignored[j]
                break
    return hit, skip


def average_precision(found, truth, cls, threshold, similarity=iou_matrix, most=None):
    """AP of one class; found: list of (boxes, scores, classes) per image,
    truth: list of (boxes, classes) or (boxes, classes, ignored). NaN when the class has no truth.

    Boxes may be rows of anything that `similarity` compares, all finds with all truths.
    most: finds of an image that count; None: all.
    """
    scores, hits, total = [], [], 0
    for (boxes, conf, kinds), (gt, gt_kinds, *ignored) in zip(found, truth):
        mine = kinds == cls
        order = np.argsort(-conf[mine], kind="stable")[:most]
        wanted = gt_kinds == cls
        ignored = ignored[0][wanted] if ignored else np.zeros(wanted.sum(), bool)
        total += (~ignored).sum()
        hit, skip = _match(boxes[mine][order], gt[wanted], threshold, similarity, ignored)
        scores.append(conf[mine][order][~skip])
        hits.append(hit[~skip])
    if total == 0:
        return float("nan")
    scores, hits = np.concatenate(scores), np.concatenate(hits)
    hits = hits[np.argsort(-scores, kind="stable")]
    recall = np.cumsum(hits) / total
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(recall, np.linspace(0, 1, 101), side="left")
    return float(np.mean([envelope[i] if i < len(envelope) else 0.0 for i in at]))


def remembered(similarity):
    """The same function, computed once for each pair of arrays: the thresholds share it."""
    known = {}

    def call(a, b):
        key = hashlib.sha1(np.ascontiguousarray(a)).digest() + \
            hashlib.sha1(np.ascontiguousarray(b)).digest()
        if key not in known:
            known[key] = similarity(a, b)
        return known[key]
    return call


def mean_ap(found, truth, classes, similarity=iou_matrix, most=None):
    """Dict with map50, map (0.5:0.95) and per-class AP at 0.5."""
    similarity = remembered(similarity)
    table = np.array([[average_precision(found, truth, c, t, similarity, most)
                       for t in THRESHOLDS] for c in range(classes)])
    return {"map50": float(np.nanmean(table[:, 0])), "map": float(np.nanmean(table)),
            "ap50": table[:, 0].tolist(), "ap": np.nanmean(table, 1).tolist()}


def recall_by_size(found, truth, edges, score=0.25, threshold=0.5):
    """Share of truths found, by the square root of their area in pixels.

    edges: ascending limits of the size bins. Returns [(low, high, count, recall)].
    """
    sizes, hits = [], []
    for (boxes, conf, kinds), (gt, gt_kinds) in zip(found, truth):
        for box, kind in zip(gt, gt_kinds):
            mine = boxes[(kinds == kind) & (conf > score)]
            best = iou_matrix(box[None], mine).max() if len(mine) else 0.0
            sizes.append(np.sqrt((box[2:] - box[:2]).prod()))
            hits.append(best >= threshold)
    sizes, hits = np.array(sizes), np.array(hits)
    rows = []
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (sizes >= low) & (sizes < high)
        rows.append((low, high, int(inside.sum()), float(hits[inside].mean())
                     if inside.any() else float("nan")))
    return rows
