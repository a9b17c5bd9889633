# SPDX-License-Identifier: Apache-2.0
"""Truth beyond boxes: masks, points of boats, rotated boxes and the light of a still.

Coordinates are image pixels, (0, 0) the outer corner of the first pixel. A rotated
box is [cx, cy, w, h, angle], angle in radians, clockwise as seen, w along the
object's own horizontal.
"""

import argparse
import json
from multiprocessing import Pool

import cv2
import numpy as np

from palette import PALETTES
from render import SEED_HELD_OUT, SEED_PHOTO, SEED_TRAIN, SEED_VAL, render_owned, still
from scene import BOAT, CLASSES

POINTS = ("left end", "right end", "masthead")
LIGHTS = tuple(PALETTES)
FREEBOARD = {"yacht": (0.13, 0.09), "moored": (0.13, 0.09), "gaffer": (0.16, 0.11),
             "trawler": (0.24, 0.13), "cruiser": (0.19, 0.13), "dinghy": (0.17, 0.14),
             "tug": (0.19, 0.12), "speedboat": (0.15, 0.12)}


def masthead(spec):
    """Top of a boat's mast in boat lengths (x, y), or None without a mast."""
    kind, a, b = spec["kind"], spec["a"], spec["b"]
    if kind in ("yacht", "moored"):
        return 0.06, 1.25 + 0.22 * a
    if kind == "trawler":
        return (-0.2 if a < 0.5 else 0.12), 0.52 + 0.15 * b
    if kind == "cruiser":
        return (-0.3, 0.47 + 0.05 * a) if b > 0.45 else None
    return {"gaffer": (0.1, 1.12), "tug": (0.08, 0.64)}.get(kind)


def boat_points(thing, cam, t, owner):
    """Rows [x, y, visibility] of POINTS: 2 seen, 1 hidden, 0 absent or outside.

    The ends are the tops of bow and stern, whichever is on that side.
    """
    bow, stern = FREEBOARD[thing.spec["kind"]]
    ends = [(-0.5, stern), (0.5, bow)][::thing.flip] + [masthead(thing.spec)]
    cv = thing.canvas(cam, t)
    rows = []
    for end in ends:
        if end is None:
            rows.append([0.0, 0.0, 0])
            continue
        fixed = cv.to_pixels([np.array(end) * thing.spec["length"]])[0]
        x, y = (fixed / 16.0 + 0.5) / cv.ss + (cv.left, cv.top)
        if not (0 <= x < owner.shape[1] and 0 <= y < owner.shape[0]):
            rows.append([0.0, 0.0, 0])
            continue
        col, row = int(x), int(y)
        near = owner[max(0, row - 2):row + 3, max(0, col - 2):col + 3]
        rows.append([round(float(x), 2), round(float(y), 2), 2 if (near == thing.id).any() else 1])
    return rows


def rotated_box(seen, angle):
    """Tight box at the given angle around the pixels of a mask."""
    ys, xs = np.nonzero(seen)
    c, s = np.cos(angle), np.sin(angle)
    along, across = xs * c + ys * s, ys * c - xs * s
    w, h = np.ptp(along) + 1, np.ptp(across) + 1
    u, v = (along.min() + along.max()) / 2, (across.min() + across.max()) / 2
    return [float(u * c - v * s + 0.5), float(u * s + v * c + 0.5), float(w), float(h),
            float(angle)]


def detailed_still(seed):
    """Image, owner map (uint8) and {"light": index, "objects": truths with details}."""
    scene, t = still(seed)
    image, objects, owner = render_owned(scene, t, seed)
    things = {thing.id: thing for thing in scene.things}
    for obj in objects:
        thing = things[obj["id"]]
        obj["rbox"] = rotated_box(owner == thing.id, thing.place(scene.cam, t)[3])
        if thing.cls == BOAT:
            obj["points"] = boat_points(thing, scene.cam, t, owner)
    path = scene.light_path
    later = np.clip(path.w0 + path.rate * t, 0, 1) > 0.5
    return image, owner.astype(np.uint8), {"light": LIGHTS.index(path.end if later else path.start),
                                           "objects": objects}


def runs(mask):
    """COCO's run lengths of a mask: column by column, the first of pixels that are off."""
    flat = np.asarray(mask).flatten("F")
    edges = np.flatnonzero(np.diff(flat)) + 1
    return [0] * bool(flat[0]) + np.diff([0, *edges, len(flat)]).tolist()


def save_photo_truth(path):
    """Truth of the photo with all details, masks as runs."""
    _, owner, row = detailed_still(SEED_PHOTO)
    for obj in row["objects"]:
        obj["class"] = CLASSES[obj["class"]]
        obj["rbox"] = [round(v, 4) for v in obj["rbox"]]
        obj["segmentation"] = {"size": list(owner.shape), "counts": runs(owner == obj["id"])}
    with open(path, "w") as f:
        body = ",\n".join(json.dumps(o, separators=(",", ":")) for o in row["objects"])
        f.write(f'{{"light": "{LIGHTS[row["light"]]}", "objects": [\n{body}\n]}}\n')


def save_details(out, first, count, workers):
    """Write OUT.npy (images), OUT_owner.npy (owner maps) and OUT.json (truths)."""
    images = np.empty((count, 360, 640, 3), np.uint8)
    owners = np.empty((count, 360, 640), np.uint8)
    rows = []
    with Pool(workers) as pool:
        for k, (image, owner, row) in enumerate(
                pool.imap(detailed_still, range(first, first + count), chunksize=8)):
            images[k], owners[k] = image, owner
            rows.append(row)
    np.save(out + ".npy", images)
    np.save(out + "_owner.npy", owners)
    with open(out + ".json", "w") as f:
        json.dump(rows, f)


def load_details(prefix, count=None):
    """Images and owner maps (memory-mapped) and truths of a saved set."""
    with open(prefix + ".json") as f:
        rows = json.load(f)[:count]
    return (np.load(prefix + ".npy", mmap_mode="r")[:count],
            np.load(prefix + "_owner.npy", mmap_mode="r")[:count], rows)


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train", "val", "held-out", "photo"])
    parser.add_argument("out", help="output prefix, or file of the photo's truth")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    if args.what == "photo":
        save_photo_truth(args.out)
        return
    first = {"train": SEED_TRAIN, "val": SEED_VAL, "held-out": SEED_HELD_OUT}[args.what]
    save_details(args.out, first, args.count, args.workers)


if __name__ == "__main__":
    main()
