# SPDX-License-Identifier: Apache-2.0
"""Scores of the masks, keypoints, rotated boxes, SSD and light on held-out rendered scenes.

`--coco FILE` writes the truth as COCO's instances with runs, keypoints and rotated boxes,
`--lights FILE` the light of each image, and `--images FOLDER` the images, for `halyard val`.
"""

import argparse
import json
import os
import zipfile

import cv2
import numpy as np
import onnx
import onnxruntime

from augment import letterbox
from details import LIGHTS, POINTS, load_details, runs
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
    """OKS of points a [N,3,3] against truths b [M,6,3]: points, and rows that start with the area
    and with the corners of the box. Without marked points, as COCO has it, the distances are those
    to the box, enlarged by its size on each side."""
    seen = b[None, :, :3, 2] > 0
    size = b[:, 5, :2] - b[:, 4, :2]
    low, high = b[:, 4, :2] - size, b[:, 5, :2] + size
    at = a[:, None, :, :2]
    outside = np.maximum(low[:, None] - at, 0) + np.maximum(at - high[:, None], 0)
    marked = seen.any(-1, keepdims=True)
    apart = np.where(marked[..., None], at - b[None, :, :3, :2], outside)
    near = np.exp(-(apart ** 2).sum(-1) / (2 * (2 * OKS_SIGMA) ** 2 * b[None, :, 3, :1]))
    use = seen | ~marked
    return (near * use).sum(-1) / use.sum(-1)


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


def tflite_runner(path, task):
    """The same of a TFLite file: rows of positions in pixels, prototypes by channel."""
    from ai_edge_litert.interpreter import Interpreter
    run = Interpreter(path, num_threads=1).get_signature_runner()
    keypoints = {"pose": 3}.get(task, 0)

    def infer(x):
        found = run(images=np.ascontiguousarray(x.transpose(0, 2, 3, 1)))
        out = [found[f"output{k}"] for k in range(len(found))]
        if task in ("segment", "pose", "obb") or task == "detect" and len(out) == 1:
            out[0][:, :4] *= SIZE
        for k in range(keypoints):
            out[0][:, 5 + 3 * k:7 + 3 * k] *= SIZE
        if task == "segment":
            out[1] = out[1].transpose(0, 3, 1, 2)
        return [v[0] if len(v) == 1 else v for v in out]
    return infer


def metadata(path):
    """Of an ONNX file, or of the archive at the end of a TFLite file."""
    if path.endswith(".tflite"):
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("metadata.json"))
    return {p.key: p.value for p in onnx.load(path).metadata_props}


def runner(path):
    """Function image [1,3,s,s] -> outputs on ONNX Runtime or LiteRT."""
    if path.endswith(".tflite"):
        return tflite_runner(path, metadata(path)["task"])
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


def boxes_of(outputs):
    """Centres and sizes [4, N] in input pixels and probabilities [3, N] of a detector or an SSD."""
    if len(outputs) == 1:
        return outputs[0][:4], outputs[0][4:]
    offsets, logits, table = outputs
    probs = np.exp(logits - logits.max(1, keepdims=True))
    probs /= probs.sum(1, keepdims=True)
    return places_of(offsets, table), probs[:, 1:].T


def detections_only(infer, data, rules):
    """Mean AP of the boxes of the detector or an SSD."""
    finds, gts = [], []
    for image, _, row in zip(*data):
        outputs, where = placed(infer, image)
        _, box, score, kind = chosen(*boxes_of(outputs), **rules)
        finds.append((in_image(box, where, image.shape), score, kind))
        gts.append((np.array([o["box"] for o in row["objects"]], float).reshape(-1, 4),
                    np.array([o["class"] for o in row["objects"]], int)))
    yield "box", mean_ap(finds, gts, COUNT)


def poses(infer, data, rules):
    """Mean AP of boxes of boats, and by the similarity of keypoints: 20 finds an image, and boats
    without a marked point count neither way, as COCO has it."""
    boxes, finds, gts, truths = [], [], [], []
    for image, owner, row in zip(*data):
        (out,), (r, left, top) = placed(infer, image)
        anchors, box, score, kind = chosen(out[:4], out[4:5], **rules)
        points = out[5:, anchors].T.reshape(-1, 3, 3).copy()
        points[..., :2] = np.clip((points[..., :2] - [left, top]) / r, 0, image.shape[1::-1])
        boxes.append((in_image(box, (r, left, top), image.shape), score, kind))
        finds.append((points, score, kind))
        boats = [o for o in row["objects"] if o["class"] == 0]
        gts.append((np.array([o["box"] for o in boats], float).reshape(-1, 4),
                    np.zeros(len(boats), int)))
        rows = [np.vstack([o["points"], [float((owner == o["id"]).sum()), 0, 0],
                           np.insert(np.reshape(o["box"], (2, 2)), 2, 0, 1)]) for o in boats]
        bare = np.array([not any(p[2] for p in o["points"]) for o in boats], bool)
        truths.append((np.array(rows).reshape(-1, 6, 3), np.zeros(len(boats), int), bare))
    yield "box", mean_ap(boxes, gts, 1)
    yield "keypoints", mean_ap(finds, truths, 1, keypoint_similarity, 20)


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
            anchors, _, score, kind = chosen(out[:4], out[4:4 + COUNT], angles=out[-1], **rules)
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
    """Prints top-1, top-3 and top-5."""
    ranks = []
    for image, _, row in zip(*data):
        x = middle(np.asarray(image)).transpose(2, 0, 1)[None].astype(np.float32) / 255
        order = np.argsort(-infer(np.ascontiguousarray(x))[0])
        ranks.append(int(np.nonzero(order == row["light"])[0][0]))
    ranks = np.array(ranks)
    print("  light " + ", ".join(f"top-{n} {(ranks < n).mean():.4f}" for n in (1, 3, 5)))
    return ()


TASKS = {"detect": detections_only, "segment": segments,
         "pose": poses, "obb": rotations, "classify": lights}


def image_rows(images):
    """COCO's list of images."""
    return [{"id": k, "file_name": f"{k:04d}.png", "width": v.shape[1], "height": v.shape[0]}
            for k, v in enumerate(images, 1)]


def write_coco(path, data):
    """Truth as COCO's instances: masks as runs, keypoints of boats, rotated boxes."""
    annotations = []
    for number, (_, owner, row) in enumerate(zip(*data), 1):
        for obj in row["objects"]:
            mask = np.asarray(owner) == obj["id"]
            x1, y1, x2, y2 = obj["box"]
            entry = {"id": len(annotations) + 1, "image_id": number, "iscrowd": 0,
                     "category_id": obj["class"] + 1, "area": int(mask.sum()),
                     "bbox": [x1, y1, x2 - x1, y2 - y1], "rbox": obj["rbox"],
                     "segmentation": {"size": list(mask.shape), "counts": runs(mask)}}
            if "points" in obj:
                entry["keypoints"] = [v for point in obj["points"] for v in point]
                entry["num_keypoints"] = sum(point[2] > 0 for point in obj["points"])
            annotations.append(entry)
    categories = [{"id": i, "name": name} for i, name in enumerate(CLASSES, 1)]
    categories[0].update(keypoints=POINTS, sigmas=[OKS_SIGMA] * len(POINTS))
    with open(path, "w") as f:
        json.dump({"images": image_rows(data[0]), "annotations": annotations,
                   "categories": categories}, f)


def write_lights(path, data):
    """The light of each image, as annotations without a place."""
    annotations = [{"id": k, "image_id": k, "category_id": row["light"] + 1}
                   for k, row in enumerate(data[2], 1)]
    with open(path, "w") as f:
        json.dump({"images": image_rows(data[0]), "annotations": annotations, "categories": [
            {"id": i, "name": name} for i, name in enumerate(LIGHTS, 1)]}, f)


class FloatImages:
    """Images as float32, one at a time: their resize is not rounded to bytes, as in Halyard."""

    def __init__(self, images):
        self.images = images

    def __iter__(self):
        return (np.asarray(image, np.float32) for image in self.images)


def main():
    """Command line: prints the scores of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("saved", help="prefix that details.py wrote")
    parser.add_argument("models", nargs="*", help="ONNX or TFLite files")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--val-rules", action="store_true",
                        help="choose boxes, and round, as `halyard val` does by default")
    parser.add_argument("--coco", help="file of instances to write")
    parser.add_argument("--lights", help="file of the light of images to write")
    parser.add_argument("--images", help="folder of PNG images to write")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    data = load_details(args.saved, args.count)
    rules = VAL_RULES if args.val_rules else {}
    if args.coco:
        write_coco(args.coco, data)
    if args.lights:
        write_lights(args.lights, data)
    for k, image in enumerate(data[0] if args.images else (), 1):
        cv2.imwrite(os.path.join(args.images, f"{k:04d}.png"), image[..., ::-1])
    if args.val_rules:
        data = (FloatImages(data[0]), *data[1:])
    for path in args.models:
        print(os.path.basename(path), flush=True)
        for name, result in TASKS[metadata(path)["task"]](runner(path), data, rules):
            each = ", ".join(f"{c} {a:.3f}/{b:.3f}" for c, a, b in
                             zip(CLASSES, result["ap50"], result["ap"]))
            print(f"  {name} mAP50 {result['map50']:.4f} mAP50-95 {result['map']:.4f} ({each})",
                  flush=True)


if __name__ == "__main__":
    main()
