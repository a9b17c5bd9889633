# SPDX-License-Identifier: Apache-2.0
"""Non-maximum suppression and average precision (COCO-style, 101 points).

Boxes are xyxy float arrays in any one unit.
"""

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


def nms(boxes, scores, limit):
    """Greedy suppression above IoU `limit`; indices kept, best first."""
    order = np.argsort(-scores, kind="stable")
    keep = []
    while len(order):
        keep.append(order[0])
        if len(order) == 1:
            break
        order = order[1:][iou_matrix(boxes[order[:1]], boxes[order[1:]])[0] <= limit]
    return np.array(keep, int)


def detections(output, **rules):
    """Detections of one output [4+C, A] by rules of chosen(): boxes [N,4], scores [N],
    classes [N]."""
    return chosen(output[:4], output[4:], **rules)[1:]


def chosen(places, probs, score=0.001, iou=0.6, most=100, every_class=False):
    """Detections of centres and sizes [4, A] and probabilities [C, A].

    Anchors [N], boxes [N,4], scores [N], classes [N]; suppression per class. One class per
    anchor (the best), of at most 1000 candidates, or every class above the score.
    """
    pick, cls, best = candidates(probs, score, every_class)
    cx, cy, w, h = places[:, pick]
    boxes = np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)
    kept = suppressed(cls, best, most, lambda mine: nms(boxes[mine], best[mine], iou))
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


def _match(found, truth, threshold, similarity):
    """True-positive flags of one image's finds of one class, best score first."""
    hit = np.zeros(len(found), bool)
    if not len(truth) or not len(found):
        return hit
    iou = similarity(found, truth)
    taken = np.zeros(len(truth), bool)
    for i in range(len(found)):
        free = np.where(taken, -1.0, iou[i])
        j = int(free.argmax())
        if free[j] >= threshold:
            taken[j], hit[i] = True, True
    return hit


def average_precision(found, truth, cls, threshold, similarity=iou_matrix):
    """AP of one class; found: list of (boxes, scores, classes) per image,
    truth: list of (boxes, classes). NaN when the class has no truth.

    Boxes may be rows of anything that `similarity` compares, all finds with all truths.
    """
    scores, hits, total = [], [], 0
    for (boxes, conf, kinds), (gt, gt_kinds) in zip(found, truth):
        mine = kinds == cls
        order = np.argsort(-conf[mine], kind="stable")
        gt = gt[gt_kinds == cls]
        total += len(gt)
        scores.append(conf[mine][order])
        hits.append(_match(boxes[mine][order], gt, threshold, similarity))
    if total == 0:
        return float("nan")
    scores, hits = np.concatenate(scores), np.concatenate(hits)
    hits = hits[np.argsort(-scores, kind="stable")]
    recall = np.cumsum(hits) / total
    precision = np.cumsum(hits) / np.arange(1, len(hits) + 1)
    envelope = np.maximum.accumulate(precision[::-1])[::-1]
    at = np.searchsorted(recall, np.linspace(0, 1, 101), side="left")
    return float(np.mean([envelope[i] if i < len(envelope) else 0.0 for i in at]))


def mean_ap(found, truth, classes, similarity=iou_matrix):
    """Dict with map50, map (0.5:0.95) and per-class AP at 0.5."""
    table = np.array([[average_precision(found, truth, c, t, similarity) for t in THRESHOLDS]
                      for c in range(classes)])
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
