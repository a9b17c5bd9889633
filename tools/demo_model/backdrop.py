# SPDX-License-Identifier: Apache-2.0
"""Sky, shore and water of the harbour, without the movable objects.

Images are float32 RGB in 0..1 of shape [h, w, 3].
"""

import cv2
import numpy as np

from canvas import Canvas, shade


def fractal(rng, height, width, cells_y, cells_x, octaves=4):
    """Smooth fractal noise [height, width] of about zero mean, unit-ish range."""
    out = np.zeros((height, width), np.float32)
    for k in range(octaves):
        grid = rng.random((max(2, cells_y << k), max(2, cells_x << k))).astype(np.float32)
        out += (cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC) - 0.5) / (1 << k)
    return out


class Sky:
    """Gradient sky with a sun and drifting clouds."""

    def __init__(self, rng, cam):
        self.cam = cam
        h = max(16, int(cam.horizon) + 2)
        self.noise = fractal(rng, h, cam.width * 2, 3, 6, 5)
        stretch = np.linspace(0, 1, h) ** 0.6
        rows = (stretch * (h - 1)).astype(np.float32)
        map_x, map_y = np.meshgrid(np.arange(cam.width * 2, dtype=np.float32), rows)
        self.noise = cv2.remap(self.noise, map_x, map_y, cv2.INTER_LINEAR)
        self.wind = float(rng.uniform(-3, 3))
        self.sun_x = float(rng.uniform(-0.1, 1.1) * cam.width)
        self.sun_y = float(rng.uniform(0.15, 0.95) * cam.horizon)
        self.thick = float(rng.uniform(0.0, 0.25))

    def paint(self, light, t):
        """Sky image from the top down to just below the horizon."""
        h, w = self.noise.shape[0], self.cam.width
        v = np.linspace(0, 1, h, dtype=np.float32)[:, None, None] ** 1.3
        sky = light.zenith * (1 - v) + light.horizon * v
        sky = np.repeat(sky, w, 1).astype(np.float32)
        off = 0.5 * w + self.wind * t
        shift = np.float32([[1, 0, -off], [0, 1, 0]])
        noise = cv2.warpAffine(self.noise, shift, (w, h), borderMode=cv2.BORDER_REFLECT)
        cover = np.clip((noise + light.cloud * 0.75 + self.thick - 0.42) * 2.6, 0, 1)[..., None]
        lit = 0.55 * light.horizon + 0.45 * light.sun
        cloud = lit * (1.02 - 0.28 * np.clip(noise, -0.4, 1))[..., None]
        sky = sky * (1 - 0.85 * cover) + cloud * 0.85 * cover
        if light.sun_power > 0.02:
            yy, xx = np.mgrid[0:h, 0:w].astype(np.float32)
            r = np.sqrt((xx - self.sun_x) ** 2 + (yy - self.sun_y) ** 2)
            glow = 0.55 * np.exp(-r / 90) + 0.9 * np.clip((13 - r) / 3, 0, 1)
            sky += (glow * light.sun_power * (1 - 0.6 * cover[..., 0]))[..., None] * light.sun
        return np.clip(sky, 0, 1)


class Shore:
    """Static layers behind the water: hills, town, lighthouse, cranes.

    Kept as one premultiplied RGBA image in neutral light plus a depth map
    (metres) used for the haze.
    """

    def __init__(self, rng, cam):
        self.cam = cam
        h = int(cam.horizon) + 3
        self.rgba = np.zeros((h, cam.width, 4), np.float32)
        self.depth = np.full((h, cam.width), 1e4, np.float32)
        for depth in (1500, 800, 420)[:int(rng.integers(0, 4))]:
            self._hills(rng, depth, h)
        if rng.random() < 0.55:
            self._town(rng, h)
        if rng.random() < 0.45:
            self._lighthouse(rng)
        if rng.random() < 0.3:
            self._crane(rng)

    def _put(self, layer, left, top, depth):
        """Composite a premultiplied RGBA layer at (left, top)."""
        h, w = self.depth.shape
        y0, y1 = max(0, top), min(h, top + layer.shape[0])
        x0, x1 = max(0, left), min(w, left + layer.shape[1])
        if y1 <= y0 or x1 <= x0:
            return
        part = layer[y0 - top:y1 - top, x0 - left:x1 - left]
        view = self.rgba[y0:y1, x0:x1]
        view[:] = view * (1 - part[..., 3:]) + part
        self.depth[y0:y1, x0:x1][part[..., 3] > 0.3] = depth

    def _hills(self, rng, depth, h):
        """A ridge of fractal height, green or rocky."""
        width = self.cam.width
        ridge = fractal(rng, 2, width, 1, int(rng.integers(2, 6)), 6)[0]
        height = h * rng.uniform(0.1, 0.42) * (0.5 + ridge + 0.3)
        base = np.array([[0.24, 0.33, 0.20], [0.36, 0.34, 0.26], [0.20, 0.30, 0.28]][
            rng.integers(3)], np.float32)
        tex = fractal(rng, h, width, 6, 16, 4)
        rows = np.arange(h, dtype=np.float32)[:, None]
        alpha = np.clip(rows - (h - 3 - height[None]), 0, 1)
        rgb = base * (1 + 0.35 * tex)[..., None]
        self._put(np.dstack([rgb * alpha[..., None], alpha]).astype(np.float32), 0, 0, depth)

    def _canvas(self, x, bounds, depth):
        return Canvas(x, self.cam.horizon + 1, bounds, self.cam.focal / depth)

    def _town(self, rng, h):
        """A row of houses with roofs and windows along the far shore."""
        depth = float(rng.uniform(220, 420))
        span = self.cam.width * depth / self.cam.focal
        x0, x1 = np.sort(rng.uniform(-0.6, 0.6, 2)) * span
        cv = self._canvas(self.cam.width / 2, (-0.7 * span, 0.7 * span, -2, 40), depth)
        cv.rect(x0 - 4, x1 + 4, -1, 1.6, (0.40, 0.39, 0.36))
        x = x0
        while x < x1:
            w, tall = rng.uniform(5, 13), rng.uniform(5, 14)
            wall = np.clip(np.array([0.78, 0.72, 0.62]) * rng.uniform(0.6, 1.2)
                           + rng.normal(0, 0.07, 3), 0, 1)
            cv.rect(x, x + w, 1, tall, wall)
            roof = [(0.55, 0.25, 0.18), (0.35, 0.33, 0.34), (0.48, 0.36, 0.28)][rng.integers(3)]
            cv.poly([(x - 0.5, tall), (x + w / 2, tall + rng.uniform(1.5, 5)),
                     (x + w + 0.5, tall)], roof)
            for row in range(int(tall // 3)):
                for col in range(int(w // 2.5)):
                    cv.rect(x + 1 + col * 2.4, x + 2 + col * 2.4, 2 + row * 3, 3.5 + row * 3,
                            (0.22, 0.24, 0.28))
            x += w + rng.choice([0.0, 0.0, 1.0, 5.0])
        self._put(cv.finish(), cv.left, cv.top, depth)

    def _lighthouse(self, rng):
        """A banded lighthouse on a rock."""
        depth = float(rng.uniform(130, 300))
        x = float(rng.uniform(0.05, 0.95) * self.cam.width)
        cv = self._canvas(x, (-22, 22, -2, 30), depth)
        cv.poly([(-20, -1), (-12, 2.5), (-5, 4), (6, 3.5), (14, 2), (21, -1)], (0.33, 0.31, 0.29))
        cv.poly([(0, -1), (2, 3.6), (6, 3.5), (14, 2), (21, -1)], (0.25, 0.24, 0.23))
        tall, band = rng.uniform(14, 22), [(0.75, 0.15, 0.12), (0.15, 0.15, 0.2)][rng.integers(2)]
        edge = lambda y: 2.2 - 0.9 * (y - 3) / tall
        for k in range(5):
            ya, yb = 3 + tall * k / 5, 3 + tall * (k + 1) / 5
            color = band if k % 2 else (0.93, 0.93, 0.91)
            cv.poly([(-edge(ya), ya), (edge(ya), ya), (edge(yb), yb), (-edge(yb), yb)], color)
            cv.poly([(0.3, ya), (edge(ya), ya), (edge(yb), yb), (0.3, yb)], shade(color, 0.75))
        y = 3 + tall
        cv.rect(-1.8, 1.8, y, y + 0.5, (0.15, 0.15, 0.15))
        cv.rect(-1.0, 1.0, y + 0.5, y + 2.3, (0.95, 0.9, 0.65))
        cv.poly([(-1.4, y + 2.3), (1.4, y + 2.3), (0, y + 4)], band)
        self._put(cv.finish(), cv.left, cv.top, depth)

    def _crane(self, rng):
        """A harbour crane on the shore."""
        depth = float(rng.uniform(200, 380))
        cv = self._canvas(float(rng.uniform(0, 1) * self.cam.width), (-30, 30, -2, 48), depth)
        color = [(0.75, 0.45, 0.1), (0.25, 0.35, 0.5), (0.6, 0.15, 0.12)][rng.integers(3)]
        for x in (-6, 6):
            cv.line([(x, 0), (x * 0.7, 24)], 1.0, color)
        cv.line([(-6, 8), (6, 8)], 0.7, color)
        cv.rect(-5, 5, 23, 28, shade(color, 0.85))
        arm = float(rng.uniform(0.2, 1.0)) * (1 if rng.random() < 0.5 else -1)
        tip = (26 * np.cos(arm) * np.sign(arm), 27 + 20 * abs(np.sin(arm)))
        cv.line([(0, 27), tip], 0.9, color)
        self._put(cv.finish(), cv.left, cv.top, depth)

    def over(self, sky, light):
        """Composite the shore over a sky image of the same height."""
        h = min(sky.shape[0], self.rgba.shape[0])
        alpha = self.rgba[:h, :, 3:]
        haze = (1 - np.exp(-self.depth[:h] / (3.0 * light.haze_m)))[..., None] * alpha
        lit = self.rgba[:h, :, :3] * light.tint
        out = sky.copy()
        out[:h] = sky[:h] * (1 - alpha) + lit * (1 - haze) + light.horizon * haze
        return out
