# SPDX-License-Identifier: Apache-2.0
"""Scores of the masks, keypoints, rotated boxes, SSD and light on held-out rendered scenes.

`--coco FILE` writes the truth as COCO's instances with runs and `--images FOLDER` the
images, for `halyard val`.
"""

import argparse
import json
import os

import cv2
import numpy as np
import onnx
import onnxruntime

from augment import letterbox
from details import load_details, runs
from metrics import VAL_RULES, chosen, mean_ap
from net import CLASSES as COUNT
from net import SIZE
from scene import CLASSES
from train_light import middle

OKS_SIGMA = 0.1   # of every keypoint, share of the root of the object's mask area


def packed(masks):
    """Masks [N,H,W] as rows of bits, which mask_iou compares."""
    return np.packbits(np.asarray(masks, bool).reshape(len(masks), -1), axis=1)


def mask_iou(a, b):
    """IoU of packed masks a [N,...] against b [M,...]: [N,M]."""
    count = lambda v: np.bitwise_count(v).sum(-1, dtype=np.int64)
    inter = np.stack([count(row[None] & b) for row in a])
    return inter / np.maximum(count(a)[:, None] + count(b)[None] - inter, 1)


def keypoint_similarity(a, b):
    """OKS of points a [N,3,3] against truths b [M,4,3], whose last row starts with the area."""
    far = ((a[:, None, :, :2] - b[None, :, :3, :2]) ** 2).sum(-1)
    seen = b[None, :, :3, 2] > 0
    near = np.exp(-far / (2 * (2 * OKS_SIGMA) ** 2 * b[None, :, 3, :1])) * seen
    return near.sum(-1) / np.maximum(seen.sum(-1), 1)


def polygon_iou(a, b):
    """IoU of rotated boxes [cx, cy, w, h, angle in radians]: [N,M]."""
    out = np.zeros((len(a), len(b)))
    shape = lambda r: ((r[0], r[1]), (r[2], r[3]), np.degrees(r[4]))
    for i, p in enumerate(a):
        for j, q in enumerate(b):
            if np.hypot(*(p[:2] - q[:2])) < (np.hypot(*p[2:4]) + np.hypot(*q[2:4])) / 2:
                _, cross = cv2.rotatedRectangleIntersection(shape(p), shape(q))
                inter = cv2.contourArea(cv2.convexHull(cross)) if cross is not None else 0.0
                out[i, j] = inter / max(p[2] * p[3] + q[2] * q[3] - inter, 1e-9)
    return out


def runner(path):
    """Function image [1,3,s,s] -> outputs on ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda x: [v[0] if len(v) == 1 else v for v in session.run(None, {"images": x})]


def placed(infer, image):
    """Outputs of a letterboxed image, and its placement (r, left, top)."""
    boxed, *where = letterbox(np.asarray(image))
    return infer(np.ascontiguousarray(boxed.transpose(2, 0, 1))[None].astype(np.float32) / 255), \
        where


def in_image(boxes, where, shape):
    """Boxes in pixels of the image, clipped to it as `halyard val` does."""
    r, left, top = where
    return np.clip((boxes - [left, top, left, top]) / r, 0, [shape[1], shape[0]] * 2)


def full_masks(coefs, proto, boxes, shape, where):
    """Masks of image size: logits enlarged to the input, above 0 within the box, then to the
    image, where 0 and 1 are interpolated and rounded down."""
    r, left, top = where
    logits = np.tensordot(coefs, proto, 1)
    high, wide = max(1, round(shape[0] * r)), max(1, round(shape[1] * r))
    at, masks = np.arange(SIZE), []
    for logit, (x1, y1, x2, y2) in zip(logits, boxes):
        grown = cv2.resize(logit, (SIZE, SIZE), interpolation=cv2.INTER_LINEAR) > 0
        grown &= ((at >= y1) & (at < y2))[:, None] & ((at >= x1) & (at < x2))[None]
        part = grown[top:top + high, left:left + wide].astype(np.float32)
        masks.append(cv2.resize(part, shape[1::-1], interpolation=cv2.INTER_LINEAR) >= 1.0)
    return packed(masks) if masks else np.zeros((0, (shape[0] * shape[1] + 7) // 8), np.uint8)


def segments(infer, data, rules):
    """Mean AP of boxes and of masks."""
    finds, truths, boxes, gts = [], [], [], []
    for image, owner, row in zip(*data):
        (out, proto), where = placed(infer, image)
        anchors, box, score, kind = chosen(out[:4], out[4:4 + COUNT], **rules)
        finds.append((full_masks(out[4 + COUNT:, anchors].T, proto, box, image.shape, where),
                      score, kind))
        boxes.append((in_image(box, where, image.shape), score, kind))
        kinds = np.array([o["class"] for o in row["objects"]], int)
        masks = [owner == o["id"] for o in row["objects"]]
        truths.append((packed(masks) if masks else finds[-1][0][:0], kinds))
        gts.append((np.array([o["box"] for o in row["objects"]], float).reshape(-1, 4), kinds))
    for name, result in (("box", mean_ap(boxes, gts, COUNT)),
                         ("mask", mean_ap(finds, truths, COUNT, mask_iou))):
        yield name, result


def places_of(offsets, table):
    """Centres and sizes [4, N] in input pixels of offsets [N, 4] and priors [N, 4]."""
    centre = table[:, :2] + 0.1 * offsets[:, :2] * table[:, 2:]
    return SIZE * np.hstack([centre, table[:, 2:] * np.exp(0.2 * offsets[:, 2:])]).T


def single_shots(infer, data, rules):
    """Mean AP of the boxes of an SSD."""
    finds, gts = [], []
    for image, _, row in zip(*data):
        (offsets, logits, table), where = placed(infer, image)
        probs = np.exp(logits - logits.max(1, keepdims=True))
        probs /= probs.sum(1, keepdims=True)
        _, box, score, kind = chosen(places_of(offsets, table), probs[:, 1:].T, **rules)
        finds.append((in_image(box, where, image.shape), score, kind))
        gts.append((np.array([o["box"] for o in row["objects"]], float).reshape(-1, 4),
                    np.array([o["class"] for o in row["objects"]], int)))
    yield "box", mean_ap(finds, gts, COUNT)


def poses(infer, data, rules):
    """Mean AP of boxes of boats, and by the similarity of keypoints."""
    boxes, finds, gts, truths = [], [], [], []
    for image, owner, row in zip(*data):
        (out,), (r, left, top) = placed(infer, image)
        anchors, box, score, kind = chosen(out[:4], out[4:5], **rules)
        points = out[5:, anchors].T.reshape(-1, 3, 3).copy()
        points[..., :2] = (points[..., :2] - [left, top]) / r
        boxes.append((in_image(box, (r, left, top), image.shape), score, kind))
        finds.append((points, score, kind))
        boats = [o for o in row["objects"] if o["class"] == 0]
        gts.append((np.array([o["box"] for o in boats], float).reshape(-1, 4),
                    np.zeros(len(boats), int)))
        marked = [np.vstack([o["points"], [float((owner == o["id"]).sum()), 0, 0]])
                  for o in boats if any(p[2] for p in o["points"])]
        truths.append((np.array(marked).reshape(-1, 4, 3), np.zeros(len(marked), int)))
    yield "box", mean_ap(boxes, gts, 1)
    yield "keypoints", mean_ap(finds, truths, 1, keypoint_similarity)


def rolled(image, row, k):
    """An image and its rotated boxes as a camera sees them that rolls about its axis."""
    angle = float(np.random.default_rng(k).uniform(-0.35, 0.35))
    c, s = np.cos(angle), np.sin(angle)
    middle_at = np.array(image.shape[1::-1]) / 2
    turn = np.array([[c, -s], [s, c]])
    matrix = np.hstack([turn, (middle_at - 0.5 - turn @ (middle_at - 0.5))[:, None]])
    out = cv2.warpAffine(np.asarray(image), matrix, image.shape[1::-1], borderValue=(114,) * 3)
    rows = []
    for o in row["objects"]:
        x, y, w, h, a = o["rbox"]
        centre = turn @ ([x, y] - middle_at) + middle_at
        if (centre > 0).all() and (centre < image.shape[1::-1]).all():
            rows.append(([*centre, w, h, a + angle], o["class"]))
    return out, rows


def rotations(infer, data, rules):
    """Mean AP of rotated boxes, upright cameras and rolled ones, and the error of angles."""
    for name in ("upright", "rolled"):
        finds, truths, errors = [], [], []
        for k, (image, _, row) in enumerate(zip(*data)):
            rows = [(o["rbox"], o["class"]) for o in row["objects"]]
            if name == "rolled":
                image, rows = rolled(image, row, k)
            (out,), (r, left, top) = placed(infer, image)
            anchors, _, score, kind = chosen(out[:4], out[4:4 + COUNT], **rules)
            found = out[[0, 1, 2, 3, -1]][:, anchors].T.copy()
            found[:, :2] -= [left, top]
            found[:, :4] /= r
            finds.append((found, score, kind))
            gt = np.array([b for b, _ in rows], float).reshape(-1, 5)
            truths.append((gt, np.array([c for _, c in rows], int)))
            sure = found[score > 0.25]
            if len(sure) and len(gt):
                best = polygon_iou(sure, gt)
                for i, j in enumerate(best.argmax(1)):
                    if best[i, j] > 0.5:
                        errors.append(abs(sure[i, 4] - gt[j, 4]))
        print(f"  {name}: median error of {len(errors)} angles "
              f"{np.degrees(np.median(errors)):.2f} degrees")
        yield name, mean_ap(finds, truths, COUNT, polygon_iou)


def lights(infer, data, _rules):
    """Prints top-1 and top-3."""
    ranks = []
    for image, _, row in zip(*data):
        x = middle(np.asarray(image)).transpose(2, 0, 1)[None].astype(np.float32) / 255
        order = np.argsort(-infer(np.ascontiguousarray(x))[0])
        ranks.append(int(np.nonzero(order == row["light"])[0][0]))
    ranks = np.array(ranks)
    print(f"  light top-1 {(ranks < 1).mean():.4f}, top-3 {(ranks < 3).mean():.4f}")
    return ()


TASKS = {"detect": single_shots, "segment": segments,
         "pose": poses, "obb": rotations, "classify": lights}


def write_coco(path, data):
    """Truth as COCO's instances, masks as runs."""
    images, annotations = [], []
    for number, (image, owner, row) in enumerate(zip(*data), 1):
        h, w = image.shape[:2]
        images.append({"id": number, "file_name": f"{number:04d}.png", "width": w, "height": h})
        for obj in row["objects"]:
            mask = np.asarray(owner) == obj["id"]
            x1, y1, x2, y2 = obj["box"]
            annotations.append({"id": len(annotations) + 1, "image_id": number, "iscrowd": 0,
                                "category_id": obj["class"] + 1, "area": int(mask.sum()),
                                "bbox": [x1, y1, x2 - x1, y2 - y1], "segmentation": {
                                    "size": [h, w], "counts": runs(mask)}})
    with open(path, "w") as f:
        json.dump({"images": images, "annotations": annotations, "categories": [
            {"id": i, "name": name} for i, name in enumerate(CLASSES, 1)]}, f)


def main():
    """Command line: prints the scores of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("saved", help="prefix that details.py wrote")
    parser.add_argument("models", nargs="*", help="ONNX files")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--val-rules", action="store_true",
                        help="choose boxes as `halyard val` does by default; slow for masks")
    parser.add_argument("--coco", help="file of instances to write")
    parser.add_argument("--images", help="folder of PNG images to write")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    data = load_details(args.saved, args.count)
    rules = VAL_RULES if args.val_rules else {}
    if args.coco:
        write_coco(args.coco, data)
    for k, image in enumerate(data[0] if args.images else (), 1):
        cv2.imwrite(os.path.join(args.images, f"{k:04d}.png"), image[..., ::-1])
    for path in args.models:
        print(os.path.basename(path), flush=True)
        task = {p.key: p.value for p in onnx.load(path).metadata_props}["task"]
        for name, result in TASKS[task](runner(path), data, rules):
            each = ", ".join(f"{c} {a:.3f}/{b:.3f}" for c, a, b in
                             zip(CLASSES, result["ap50"], result["ap"]))
            print(f"  {name} mAP50 {result['map50']:.4f} mAP50-95 {result['map']:.4f} ({each})",
                  flush=True)


if __name__ == "__main__":
    main()
