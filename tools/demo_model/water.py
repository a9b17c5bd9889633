# SPDX-License-Identifier: Apache-2.0
"""Animated water in perspective: waves, mirrored sky and shore, sun glints."""

import cv2
import numpy as np


class Water:
    """Water surface of one scene; waves are sums of sines in world metres."""

    def __init__(self, rng, cam):
        self.cam = cam
        self.first = int(np.floor(cam.horizon)) + 1
        ys = np.arange(self.first, cam.height, dtype=np.float32)
        self.dist = cam.focal * cam.eye / (ys - cam.horizon + 0.35)
        xs = np.arange(cam.width, dtype=np.float32) - cam.width / 2
        self.xw = xs[None, :] * (self.dist / cam.focal)[:, None]
        self.rough = float(rng.uniform(0.25, 1.3))
        wind = rng.uniform(0, 2 * np.pi)
        self.waves = []
        for length in (0.9, 1.3, 2.1, 3.4, 5.5, 9.0, 16.0):
            angle = wind + rng.normal(0, 0.6)
            k = 2 * np.pi / (length * rng.uniform(0.8, 1.25))
            self.waves.append((k * np.cos(angle), k * np.sin(angle), np.sqrt(9.81 * k),
                               rng.uniform(0, 6.28), rng.uniform(0.06, 0.14)))
        tex = rng.random((256, 256)).astype(np.float32) - 0.5
        tiled = np.tile(tex, (3, 3))
        fine = cv2.GaussianBlur(tiled, (0, 0), 1.2) * 4
        wide = cv2.GaussianBlur(tiled, (0, 0), 5.0) * 10
        self.texture = np.ascontiguousarray((fine + wide)[256:512, 256:512])
        self.clarity = float(rng.uniform(0.25, 0.6))
        self.glint = float(rng.uniform(0.2, 1.0))

    def slopes(self, t):
        """Surface slopes (across, along the view) at time t, [rows, width]."""
        cam, dist = self.cam, self.dist[:, None]
        foot_z = dist ** 2 / (cam.focal * cam.eye)
        foot_x = dist / cam.focal
        sx = np.zeros_like(self.xw)
        sz = np.zeros_like(self.xw)
        for kx, kz, omega, phase, amp in self.waves:
            fade = np.exp(-0.10 * (kz * foot_z) ** 2 - 0.4 * (kx * foot_x) ** 2)
            c = np.cos(kx * self.xw + (kz * dist - omega * t + phase)) * (amp * fade)
            k = np.hypot(kx, kz)
            sx += c * (kx / k)
            sz += c * (kz / k)
        u = (self.xw * 9 + 4.0 * t) % 256
        v = np.broadcast_to((dist * 7 + 6.0 * t) % 256, u.shape)
        tex = cv2.remap(self.texture, u.astype(np.float32), v.astype(np.float32),
                        cv2.INTER_LINEAR, borderMode=cv2.BORDER_WRAP)
        tex = tex * (0.10 / (1 + 0.12 * foot_z))
        return (sx + 0.6 * tex) * self.rough, (sz + tex) * self.rough

    def paint(self, above, light, t, sun_x):
        """Water image [rows, w, 3] that mirrors `above` (sky and shore)."""
        cam = self.cam
        sx, sz = self.slopes(t)
        below = (np.arange(sx.shape[0], dtype=np.float32)[:, None] + 0.65)
        map_y = cam.horizon - 1 - below * 0.85 - sz * (18 + 0.55 * below)
        map_x = np.arange(cam.width, dtype=np.float32)[None] + sx * (8 + 0.4 * below)
        map_y = np.clip(map_y, 0, above.shape[0] - 2).astype(np.float32)
        mirror = cv2.remap(above, map_x.astype(np.float32), map_y, cv2.INTER_LINEAR,
                           borderMode=cv2.BORDER_REFLECT)
        grazing = cam.eye / np.hypot(cam.eye, self.dist[:, None])
        fresnel = np.clip(0.92 - 1.9 * grazing * (1 - self.clarity) + 1.1 * sz, 0.12, 0.96)
        deep = light.deep * (1 + 0.9 * np.clip(sz, -0.5, 0.6))[..., None]
        out = deep * (1 - fresnel[..., None]) + mirror * fresnel[..., None] * 0.93
        if light.sun_power > 0.05:
            spread = 26 + 0.35 * below
            column = np.exp(-((np.arange(cam.width)[None] - sun_x) / spread) ** 2)
            near = np.exp(-((np.arange(cam.width)[None] - sun_x) / (spread * 4)) ** 2)
            spark = np.clip((sz * 5.5 + 1.6 * sx - 0.55), 0, 1.2)
            amount = self.glint * light.sun_power * (0.25 * column + spark * (column + 0.35 * near))
            out = out + np.clip(amount, 0, 1)[..., None] * light.sun * 0.8
        return np.clip(out, 0, 1).astype(np.float32)
