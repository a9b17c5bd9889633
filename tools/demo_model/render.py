# SPDX-License-Identifier: Apache-2.0
"""Procedural harbour renderer with exact ground truth, and its command line.

A frame is uint8 RGB [360, 640, 3]. Truth is a list of objects: id, class
index, box [x1, y1, x2, y2] in pixels around the pixels of the object that can
be seen, and the visible fraction (seen pixels / all pixels of the object,
those outside of the image included).
"""

import argparse
import json
import os
import struct
from multiprocessing import Pool

import cv2
import numpy as np

from canvas import shade
from scene import BOAT, CLASSES, OTHER, clip_scene, random_scene

COVER = 0.35        # a pixel belongs to an object from this coverage on
MIN_VISIBLE = 0.2   # objects that show less than this are not in the truth
MIN_SIDE = 10       # ... nor objects whose longer side is shorter (pixels)
SEED_TRAIN, SEED_VAL, SEED_HELD_OUT, SEED_CLIP = 1_000_000, 2_000_000, 3_000_000, 4_000_000
SEED_PHOTO = 5_000_102


def _overlap(shape, left, top, h, w):
    """Slices of the image and of a sprite put at (left, top), or None."""
    y0, y1 = max(0, top), min(shape[0], top + h)
    x0, x1 = max(0, left), min(shape[1], left + w)
    if y1 <= y0 or x1 <= x0:
        return None
    return ((slice(y0, y1), slice(x0, x1)),
            (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left)))


def _blend(image, sprite, left, top):
    """Composite a premultiplied sprite over the image in place."""
    where = _overlap(image.shape, left, top, *sprite.shape[:2])
    if where:
        part = sprite[where[1]]
        image[where[0]] = image[where[0]] * (1 - part[..., 3:]) + part[..., :3]


def _reflect(image, sprite, left, top, waterline, t, rough):
    """Mirror a sprite below its waterline, wobbling and fading with depth."""
    up = int(round(waterline)) - top
    if up < 2:
        return
    flipped = sprite[:up][::-1]
    h = max(2, int(up * 0.72))
    flipped = cv2.resize(flipped, (sprite.shape[1], h), interpolation=cv2.INTER_LINEAR)
    rows = np.arange(h, dtype=np.float32)
    step = 1.2 + 0.02 * rows
    wobble = rough * (1.0 + 0.045 * rows) * (np.sin(rows / step + 5 * t)
                                             + 0.6 * np.sin(rows / 4.3 - 3 * t + 1))
    map_x = np.arange(sprite.shape[1], dtype=np.float32)[None] + wobble[:, None]
    map_y = np.repeat(rows[:, None], sprite.shape[1], 1)
    flipped = cv2.remap(flipped, map_x.astype(np.float32), map_y, cv2.INTER_LINEAR)
    fade = (0.5 * np.exp(-rows / max(8.0, 0.6 * h)))[:, None, None]
    _blend(image, flipped * np.array([0.8, 0.86, 0.9, 1.0], np.float32) * fade, left, top + up)


def _foam(image, thing, u, v, scale, t, light):
    """Bow wave and wake of a moving boat, a dark contact line for any."""
    half = 0.5 * thing.spec["length"] * thing.spec["squash"] * scale
    speed = min(1.0, abs(thing.vx) / 3.0)
    if speed < 0.1 or half < 6:
        return
    rng = np.random.default_rng(thing.id)
    color = np.clip(0.9 * light.tint, 0, 1) * 0.6 + 0.4 * light.horizon
    mask = np.zeros(image.shape[:2], np.uint8)
    for k in range(int(10 + 26 * speed)):
        back = rng.uniform(-1.0, 2.2)
        x = u - np.sign(thing.vx) * back * half + 2 * np.sin(5 * t + k)
        y = v + rng.uniform(-0.02, 0.07) * half * (1 + 0.4 * max(0, back))
        rx = max(1.0, half * rng.uniform(0.02, 0.10))
        cv2.ellipse(mask, (int(x * 8), int(y * 8)), (int(rx * 8), int(max(4, rx * 2))),
                    0, 0, 360, int(90 + 130 * speed * rng.random()), -1, cv2.LINE_AA, 3)
    a = mask[..., None].astype(np.float32) / 255.0 * 0.7
    ys, xs = np.nonzero(mask)
    if len(ys):
        box = (slice(ys.min(), ys.max() + 1), slice(xs.min(), xs.max() + 1))
        image[box] = image[box] * (1 - a[box]) + color * a[box]


def _quay(image, owner, scene, light):
    """Foreground stone quay with a bollard in a lower corner (occluder)."""
    cam, w = scene.cam, scene.quay_width
    mask = np.zeros((cam.height, cam.width), np.uint8)
    x = lambda a: int(a if scene.quay_side < 0 else cam.width - a)
    top = int(cam.height - 0.42 * w)
    pts = np.array([(x(0), top), (x(0.55 * w), top + 6), (x(w), cam.height), (x(0), cam.height)])
    cv2.fillPoly(mask, [pts], 255, cv2.LINE_AA)
    a = (mask.astype(np.float32) / 255.0)[..., None]
    yy, xx = np.mgrid[0:cam.height, 0:cam.width]
    joint = ((yy // 14 * 17 + xx) % 34 < 2) | (yy % 14 < 2)
    stone = np.array((0.46, 0.44, 0.41)) * light.tint
    block = 0.9 + 0.1 * ((xx // 34 + yy // 14) % 3)[..., None]
    tone = stone * (1 - 0.35 * joint[..., None]) * block
    image[:] = image * (1 - a) + tone * a
    bx, by = x(0.3 * w), top + 4
    size = max(5, int(0.09 * w))
    iron = shade((0.16, 0.16, 0.18) * light.tint, 1.0)
    for cy, rx, ry in ((by, size // 2, size), (by - size, size, size // 3)):
        cv2.ellipse(image, (bx, cy), (rx, ry), 0, 0, 360, iron, -1, cv2.LINE_AA)
        cv2.ellipse(mask, (bx, cy), (rx, ry), 0, 0, 360, 255, -1)
    owner[mask > 128] = 0


def _place_things(scene, image, t, light):
    """Draw all things far to near; returns owner map and full pixel counts."""
    owner = np.zeros(image.shape[:2], np.int32)
    full = {}
    order = sorted(scene.things, key=lambda th: -th.place(scene.cam, t)[4])
    for thing in order:
        u, v, scale, _, dist = thing.place(scene.cam, t)
        sprite, left, top, line = thing.draw(scene.cam, t)
        alpha = sprite[..., 3:]
        haze = 1 - np.exp(-dist / light.haze_m)
        lit = sprite[..., :3] * light.tint * (1 - haze) + light.horizon * haze * alpha
        sprite = np.dstack([np.clip(lit, 0, 1), alpha]).astype(np.float32)
        if not thing.flying:
            _reflect(image, sprite, left, top, line, t, scene.water.rough)
        _blend(image, sprite, left, top)
        solid = alpha[..., 0] > COVER
        full[thing.id] = int(solid.sum())
        where = _overlap(image.shape, left, top, *solid.shape)
        if where:
            owner[where[0]][solid[where[1]]] = thing.id
        if thing.cls == BOAT:
            _foam(image, thing, u, v, scale, t, light)
    if scene.quay:
        _quay(image, owner, scene, light)
    return owner, full


def _truth(scene, owner, full):
    """Boxes of the visible pixels of each object of a class."""
    objects = []
    for thing in scene.things:
        if thing.cls == OTHER:
            continue
        ys, xs = np.nonzero(owner == thing.id)
        if not len(ys):
            continue
        visible = len(ys) / max(1, full[thing.id])
        box = [int(xs.min()), int(ys.min()), int(xs.max()) + 1, int(ys.max()) + 1]
        if visible >= MIN_VISIBLE and max(box[2] - box[0], box[3] - box[1]) >= MIN_SIDE:
            objects.append({"id": thing.id, "class": thing.cls, "box": box,
                            "visible": round(min(1.0, visible), 3)})
    return objects


def render_owned(scene, t, noise_seed):
    """Render one frame at time t (seconds): (uint8 RGB image, truth, owner map).

    The owner map holds the id of the object that covers each pixel, 0 for none.
    """
    cam, light = scene.cam, scene.light_path.at(t)
    above = scene.shore.over(scene.sky.paint(light, t), light)
    image = np.zeros((cam.height, cam.width, 3), np.float32)
    image[:above.shape[0]] = above
    first = scene.water.first
    image[first:] = scene.water.paint(above, light, t, scene.sky.sun_x)
    band = image[first - 1:first + 2]
    image[first - 1:first + 2] = 0.8 * band + 0.2 * light.horizon
    owner, full = _place_things(scene, image, t, light)
    if scene.blur > 0.3:
        image = cv2.GaussianBlur(image, (0, 0), scene.blur)
    image = np.clip(image * scene.gain, 0, 1) ** scene.gamma
    rng = np.random.default_rng(noise_seed)
    if scene.noise > 0.002:
        image = image + rng.standard_normal(image.shape, np.float32) * scene.noise
    return (np.clip(image, 0, 1) * 255 + 0.5).astype(np.uint8), _truth(scene, owner, full), owner


def render_frame(scene, t, noise_seed):
    """Render one frame at time t (seconds): (uint8 RGB image, truth)."""
    return render_owned(scene, t, noise_seed)[:2]


def still(seed):
    """Scene and time (seconds) of the still of a seed."""
    return random_scene(seed), float(np.random.default_rng(seed + 77_000_000).uniform(-2, 2))


def render_still(seed):
    """One frame of its own random scene; what train and test sets are made of."""
    return render_frame(*still(seed), seed)


def render_set(first_seed, count, workers=2):
    """Render `count` stills: images [count,360,640,3] and a list of truths."""
    images = np.empty((count, 360, 640, 3), np.uint8)
    truths = []
    with Pool(workers) as pool:
        jobs = pool.imap(render_still, range(first_seed, first_seed + count), chunksize=8)
        for k, (image, truth) in enumerate(jobs):
            images[k] = image
            truths.append(truth)
    return images, truths


def save_set(out, first_seed, count, workers):
    """Write images (.npy) and truths (.json) of a rendered set."""
    images, truths = render_set(first_seed, count, workers)
    np.save(out + ".npy", images)
    with open(out + ".json", "w") as f:
        json.dump(truths, f)


def encode_clip(frames, budget):
    """JPEG 4:2:0 of all frames at the best quality whose total fits budget bytes."""
    sampling = [cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420,
                cv2.IMWRITE_JPEG_OPTIMIZE, 1]
    for quality in range(92, 30, -2):
        flags = [cv2.IMWRITE_JPEG_QUALITY, quality] + sampling
        coded = [cv2.imencode(".jpg", f[..., ::-1], flags)[1].tobytes() for f in frames]
        if sum(map(len, coded)) <= budget:
            return coded, quality
    raise SystemExit("the clip does not fit its budget")


def save_clip(folder, seed, count, fps, budget):
    """Render the clip and write frame_NNNN.jpg and clip_truth.json."""
    scene = clip_scene(seed, count / fps)
    frames, rows = [], []
    for k in range(count):
        image, truth = render_frame(scene, (k - count / 2) / fps, seed + k)
        for obj in truth:
            obj["class"] = CLASSES[obj["class"]]
        frames.append(image)
        rows.append({"file": f"clip/frame_{k:04d}.jpg", "objects": truth})
    coded, quality = encode_clip(frames, budget)
    os.makedirs(os.path.join(folder, "clip"), exist_ok=True)
    for row, data in zip(rows, coded):
        with open(os.path.join(folder, row["file"]), "wb") as f:
            f.write(data)
    head = {"width": 640, "height": 360, "fps": fps, "classes": list(CLASSES)}
    with open(os.path.join(folder, "clip_truth.json"), "w") as f:
        body = ",\n".join(json.dumps(r, separators=(",", ":")) for r in rows)
        f.write(json.dumps(head)[:-1] + ', "frames": [\n' + body + "\n]}\n")
    save_truth(folder)
    print(f"clip: {count} frames, quality {quality}, {sum(map(len, coded))} bytes")


def save_truth(folder):
    """The clip's truth as COCO's instances and as MOTChallenge's gt.txt, from clip_truth.json."""
    with open(os.path.join(folder, "clip_truth.json")) as f:
        truth = json.load(f)
    images, annotations, lines = [], [], []
    for number, row in enumerate(truth["frames"], 1):
        images.append({"id": number, "file_name": row["file"], "width": truth["width"],
                       "height": truth["height"]})
        for obj in row["objects"]:
            x1, y1, x2, y2 = obj["box"]
            label = truth["classes"].index(obj["class"]) + 1
            annotations.append({
                "id": len(annotations) + 1, "image_id": number, "category_id": label,
                "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1), "iscrowd": 0})
            lines.append(f"{number},{obj['id']},{x1},{y1},{x2 - x1},{y2 - y1},1,{label},"
                         f"{obj['visible']}\n")
    categories = [{"id": i, "name": name} for i, name in enumerate(truth["classes"], 1)]
    with open(os.path.join(folder, "instances.json"), "w") as f:
        parts = [f'"{key}": [\n' + ",\n".join(json.dumps(x, separators=(",", ":")) for x in rows)
                 + "\n]" for key, rows in (("images", images), ("categories", categories),
                                           ("annotations", annotations))]
        f.write("{" + ",\n".join(parts) + "}\n")
    with open(os.path.join(folder, "gt.txt"), "w") as f:
        f.writelines(lines)


def save_photo(path, seed):
    """Render one still as a phone stores it: on its side, with the turn in its EXIF."""
    image, truth = render_still(seed)
    stored = cv2.rotate(image, cv2.ROTATE_90_COUNTERCLOCKWISE)
    coded = cv2.imencode(".jpg", stored[..., ::-1], [
        cv2.IMWRITE_JPEG_QUALITY, 90, cv2.IMWRITE_JPEG_OPTIMIZE, 1])[1].tobytes()
    # One entry: tag 0x0112 (orientation), type 3 (u16), 1 value: 6, turn by 90 degrees clockwise.
    exif = b"Exif\0\0II*\0\x08\0\0\0" + struct.pack("<HHHIHHI", 1, 0x0112, 3, 1, 6, 0, 0)
    with open(path, "wb") as f:
        f.write(coded[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + coded[2:])
    print(f"photo: {len(truth)} objects")


def main():
    """Command line: render a set, the clip, or single images to look at."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train", "val", "held-out", "clip", "photo",
                                         "truth", "look"])
    parser.add_argument("out", help="output prefix (sets), folder (clip, truth, look) or file")
    parser.add_argument("--count", type=int, default=12)
    parser.add_argument("--seed", type=int, help="of the clip, the photo or the first look")
    parser.add_argument("--fps", type=int, default=15)
    parser.add_argument("--budget", type=int, default=2_750_000, help="bytes of all JPEGs")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    first = {"train": SEED_TRAIN, "val": SEED_VAL, "held-out": SEED_HELD_OUT}.get(args.what)
    if args.what == "clip":
        save_clip(args.out, args.seed or SEED_CLIP, args.count, args.fps, args.budget)
    elif args.what == "truth":
        save_truth(args.out)
    elif args.what == "photo":
        save_photo(args.out, args.seed or SEED_PHOTO)
    elif first is not None:
        save_set(args.out, first, args.count, args.workers)
    else:
        for k in range(args.count):
            image, truth = render_still((args.seed or SEED_CLIP) + k)
            view = image[..., ::-1].copy()
            for obj in truth:
                x1, y1, x2, y2 = obj["box"]
                color = [(0, 255, 255), (255, 0, 255), (0, 255, 0)][obj["class"]]
                cv2.rectangle(view, (x1, y1), (x2 - 1, y2 - 1), color, 1)
            cv2.imwrite(os.path.join(args.out, f"look_{k:03d}.png"), np.hstack([
                image[..., ::-1], view]))


if __name__ == "__main__":
    main()
