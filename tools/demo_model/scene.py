# SPDX-License-Identifier: Apache-2.0
"""One harbour scene: camera, things that move, random choice of all of them."""

from dataclasses import dataclass

import numpy as np

import boats
import smallcraft
from canvas import Canvas
from palette import LightPath

CLASSES = ("boat", "buoy", "gull")
BOAT, BUOY, GULL, OTHER = 0, 1, 2, -1


@dataclass
class Camera:
    """Pinhole camera over flat water; lengths in metres, image in pixels."""

    width: int = 640
    height: int = 360
    horizon: float = 120.0
    focal: float = 620.0
    eye: float = 6.0

    def ground(self, x, dist):
        """Image point (u, v) and scale (pixels per metre) on the water."""
        scale = self.focal / dist
        return self.width / 2 + x * scale, self.horizon + self.eye * scale, scale


@dataclass
class Thing:
    """A movable thing; x, dist at time 0 and their speeds (metres, seconds)."""

    id: int
    cls: int
    spec: dict
    x: float
    dist: float
    vx: float = 0.0
    vd: float = 0.0
    up: float = 0.0
    vup: float = 0.0
    flip: int = 1
    bob: float = 0.05
    sway: float = 0.02
    phase: float = 0.0

    def place(self, cam, t):
        """Image point, scale and roll (radians) at time t."""
        dist = max(6.0, self.dist + self.vd * t)
        u, v, scale = cam.ground(self.x + self.vx * t, dist)
        lift = self.up + self.vup * t + self.bob * np.sin(1.7 * t + self.phase)
        roll = self.sway * np.sin(1.3 * t + 1.7 * self.phase)
        return u, v - lift * scale, scale, float(roll), dist

    def draw(self, cam, t):
        """Return (premultiplied sprite, left, top, waterline row in image)."""
        cv = self.canvas(cam, t)
        if self.cls == BOAT:
            boats.draw_boat(cv, self.spec)
        elif self.cls == BUOY:
            smallcraft.draw_buoy(cv, self.spec)
        elif self.cls == GULL:
            smallcraft.draw_gull(cv, self.spec, t)
        else:
            smallcraft.draw_distractor(cv, self.spec)
        if not self.flying:
            cv.clip_below(0.0)
        return cv.finish(), cv.left, cv.top, self.place(cam, t)[1]

    def canvas(self, cam, t):
        """Empty canvas at the place, scale and roll of time t."""
        u, v, scale, roll, _ = self.place(cam, t)
        spec = self.spec
        if self.cls == BOAT:
            return Canvas(u, v, boats.bounds(spec), scale, spec["squash"], self.flip, roll)
        if self.cls == BUOY:
            return Canvas(u, v, smallcraft.buoy_bounds(spec), scale, 1.0, 1, roll)
        if self.cls == GULL:
            return Canvas(u, v, smallcraft.gull_bounds(spec), scale, spec["squash"], self.flip,
                          roll)
        return Canvas(u, v, smallcraft.distractor_bounds(spec), scale, 1.0, self.flip)

    @property
    def flying(self):
        """True for a gull in the air."""
        return self.cls == GULL and not self.spec["floating"]


def random_camera(rng):
    """A camera with a random height, zoom and horizon."""
    horizon = float(rng.uniform(0.24, 0.5) * 360)
    return Camera(horizon=horizon, focal=float(rng.uniform(480, 860)),
                  eye=float(rng.uniform(3.5, 9.0)))


def _distance(rng, cam, nearest_row, farthest_row):
    """Distance of a waterline row drawn between the horizon and the bottom.

    Rows are counted in pixels below the horizon.
    """
    row = np.exp(rng.uniform(np.log(farthest_row), np.log(nearest_row)))
    return float(cam.focal * cam.eye / row)


def add_boat(rng, cam, ident, speed=1.0, kind=None):
    """A boat somewhere on the water, 22 to 300 pixels long."""
    spec = boats.boat_spec(rng, kind)
    reach = cam.height - cam.horizon
    for _ in range(30):
        dist = _distance(rng, cam, 0.85 * reach, 8)
        length = spec["length"] * spec["squash"] * cam.focal / dist
        if 18 < length < 300:
            break
    x = float(rng.uniform(-0.52, 0.52) * cam.width * dist / cam.focal)
    facing = 1 if rng.random() < 0.5 else -1
    still = spec["kind"] == "moored" or rng.random() < 0.25
    v = 0.0 if still else facing * rng.uniform(0.8, 4.5) * speed * spec["squash"]
    heel = 0.06 if spec["kind"] in ("yacht", "gaffer") else 0.03
    return Thing(ident, BOAT, spec, x, dist, float(v), float(rng.normal(0, 0.3)), flip=facing,
                 bob=float(rng.uniform(0.02, 0.12)), sway=float(rng.uniform(0.01, heel)),
                 phase=float(rng.uniform(0, 6.28)))


def add_buoy(rng, cam, ident):
    """A buoy, 13 to 90 pixels tall, bobbing on its chain."""
    spec = smallcraft.buoy_spec(rng)
    reach = cam.height - cam.horizon
    for _ in range(40):
        dist = _distance(rng, cam, 0.95 * reach, 12)
        if 13 < spec["height"] * cam.focal / dist < 90:
            break
    x = float(rng.uniform(-0.48, 0.48) * cam.width * dist / cam.focal)
    return Thing(ident, BUOY, spec, x, dist, bob=float(rng.uniform(0.02, 0.12)),
                 sway=float(rng.uniform(0.04, 0.22)), phase=float(rng.uniform(0, 6.28)))


def add_gull(rng, cam, ident):
    """A flying (or sometimes floating) gull, 18 to 110 pixels of span."""
    floating = rng.random() < 0.2
    spec = smallcraft.gull_spec(rng, floating)
    facing = 1 if rng.random() < 0.5 else -1
    if floating:
        reach = cam.height - cam.horizon
        dist = float(np.clip(_distance(rng, cam, 0.95 * reach, 0.2 * reach), 6,
                             0.5 * spec["span"] * cam.focal / 12))
        dist = max(dist, cam.focal * cam.eye / (0.97 * reach))
        up, speed = 0.0, 0.2
    else:
        dist = float(cam.focal * spec["span"] / np.exp(rng.uniform(np.log(22), np.log(110))))
        row = rng.uniform(0.05, 0.72) * cam.height
        up = cam.eye - (row - cam.horizon) * dist / cam.focal
        up, speed = max(0.8, float(up)), 4.0
    x = float(rng.uniform(-0.48, 0.48) * cam.width * dist / cam.focal)
    return Thing(ident, GULL, spec, x, dist, float(facing * speed * rng.uniform(0.3, 1.4)),
                 0.0, up, float(rng.normal(0, 0.25)) * (not floating), facing,
                 float(rng.uniform(0.02, 0.1)), float(rng.uniform(0.02, 0.15)),
                 float(rng.uniform(0, 6.28)))


def add_distractor(rng, cam, ident):
    """Something in the water that is none of the classes."""
    spec = smallcraft.distractor_spec(rng)
    dist = _distance(rng, cam, 0.9 * (cam.height - cam.horizon), 14)
    x = float(rng.uniform(-0.5, 0.5) * cam.width * dist / cam.focal)
    return Thing(ident, OTHER, spec, x, dist, flip=1 if rng.random() < 0.5 else -1)


class Scene:
    """Everything a frame needs; make one with random_scene or clip_scene."""

    def __init__(self, rng, cam, things, light_path):
        from backdrop import Shore, Sky
        from water import Water
        self.cam, self.things, self.light_path = cam, things, light_path
        self.sky, self.shore, self.water = Sky(rng, cam), Shore(rng, cam), Water(rng, cam)
        self.quay = rng.random() < 0.3
        self.quay_side = -1 if rng.random() < 0.5 else 1
        self.quay_width = float(rng.uniform(60, 190))
        self.noise = float(rng.uniform(0.0, 0.022))
        self.blur = float(max(0.0, rng.uniform(-0.5, 0.9)))
        self.gain = rng.uniform(0.85, 1.12) * (1 + rng.normal(0, 0.03, 3))
        self.gamma = float(rng.uniform(0.85, 1.2))


def random_scene(seed):
    """A scene with random weather, boats, buoys, gulls and distractors."""
    rng = np.random.default_rng(seed)
    cam = random_camera(rng)
    things, ident = [], 1
    counts = (rng.choice(8, p=[.04, .12, .2, .2, .18, .12, .08, .06]),
              rng.choice(6, p=[.14, .24, .24, .18, .12, .08]),
              rng.choice(7, p=[.14, .22, .22, .16, .12, .08, .06]), rng.integers(0, 4))
    for count, add in zip(counts, (add_boat, add_buoy, add_gull, add_distractor)):
        for _ in range(int(count)):
            things.append(add(rng, cam, ident))
            ident += 1
    return Scene(rng, cam, things, LightPath(rng))


def clip_scene(seed, seconds=6.0):
    """A scene for a moving clip: boats cross in both directions.

    Positions are given for the middle of the clip; frames run over t in
    [-seconds/2, seconds/2].
    """
    rng = np.random.default_rng(seed)
    cam = Camera(horizon=132.0, focal=640.0, eye=6.5)
    things, ident = [], 1
    kinds = ["yacht", "trawler", "cruiser", "gaffer", "dinghy", "tug", "moored"]
    for n, kind in enumerate(kinds):
        thing = add_boat(rng, cam, ident, 1.0, kind)
        dist = [62, 44, 84, 120, 30, 150, 100][n]
        side = 1 if n % 2 else -1
        pixel_speed = [50, 62, 45, 26, 40, 22, 0][n]
        thing.dist, thing.flip = float(dist), side
        thing.vx, thing.vd = side * pixel_speed * dist / cam.focal, 0.0
        thing.x = [-10, 25, 60, -150, 170, 180, -255][n] * dist / cam.focal
        things.append(thing)
        ident += 1
    for count, add in ((5, add_buoy), (5, add_gull), (2, add_distractor)):
        for _ in range(count):
            things.append(add(rng, cam, ident))
            ident += 1
    path = LightPath(rng, "golden", "noon", 1.0 / seconds)
    path.w0, path.ripple = 0.5, 0.06
    scene = Scene(rng, cam, things, path)
    scene.quay, scene.quay_side, scene.quay_width = True, 1, 120.0
    scene.noise, scene.blur = 0.006, 0.0
    return scene
