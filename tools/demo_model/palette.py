# SPDX-License-Identifier: Apache-2.0
"""Light of the scene: named palettes and blends between them.

All colours are RGB floats in 0..1 (display space, not linear light).
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Light:
    """One state of the light.

    zenith, horizon: sky colours; sun: colour of the sun and of its glints;
    deep: colour of the water body; tint: multiplies every object's colour;
    haze_m: distance in metres at which haze hides 63 % of an object;
    sun_power: 0 (no sun seen) .. 1; cloud: 0 (clear) .. 1 (overcast).
    """

    zenith: np.ndarray
    horizon: np.ndarray
    sun: np.ndarray
    deep: np.ndarray
    tint: np.ndarray
    haze_m: float
    sun_power: float
    cloud: float


def _light(zenith, horizon, sun, deep, tint, haze_m, sun_power, cloud):
    """Build a Light from plain tuples (colours 0..255, tint in 0..1)."""
    as_rgb = lambda c: np.array(c, np.float32) / 255.0
    return Light(as_rgb(zenith), as_rgb(horizon), as_rgb(sun), as_rgb(deep),
                 np.array(tint, np.float32), haze_m, sun_power, cloud)


PALETTES = {
    "dawn": _light((96, 122, 168), (246, 190, 160), (255, 214, 160), (44, 66, 86),
                   (0.88, 0.78, 0.74), 420, 0.8, 0.35),
    "morning": _light((92, 150, 212), (222, 228, 226), (255, 244, 214), (28, 78, 104),
                      (0.98, 0.95, 0.90), 520, 0.7, 0.4),
    "noon": _light((58, 124, 206), (188, 216, 236), (255, 255, 240), (18, 72, 110),
                   (1.05, 1.04, 1.02), 800, 0.6, 0.3),
    "overcast": _light((142, 152, 162), (198, 204, 208), (225, 225, 225), (58, 78, 84),
                       (0.80, 0.82, 0.84), 380, 0.0, 0.9),
    "fog": _light((178, 184, 188), (206, 208, 208), (235, 232, 225), (108, 122, 126),
                  (0.84, 0.85, 0.86), 120, 0.0, 0.3),
    "golden": _light((88, 118, 170), (250, 204, 130), (255, 208, 120), (50, 66, 74),
                     (1.0, 0.84, 0.62), 460, 1.0, 0.45),
    "dusk": _light((44, 52, 98), (222, 122, 98), (255, 150, 96), (26, 30, 52),
                   (0.56, 0.48, 0.55), 460, 0.6, 0.5),
    "blue_hour": _light((24, 34, 70), (108, 116, 150), (190, 190, 210), (18, 26, 46),
                        (0.40, 0.43, 0.55), 420, 0.0, 0.4),
    "storm": _light((70, 80, 92), (158, 166, 168), (220, 220, 210), (40, 58, 60),
                    (0.66, 0.69, 0.70), 260, 0.0, 1.0),
}


def blend(a, b, w):
    """Linear mix of two Lights; w in 0..1 is the share of b."""
    mix = lambda x, y: (1.0 - w) * x + w * y
    return Light(mix(a.zenith, b.zenith), mix(a.horizon, b.horizon), mix(a.sun, b.sun),
                 mix(a.deep, b.deep), mix(a.tint, b.tint), mix(a.haze_m, b.haze_m),
                 mix(a.sun_power, b.sun_power), mix(a.cloud, b.cloud))


class LightPath:
    """Light as a function of time: a drift from one palette to another.

    A slow exposure ripple (passing clouds) multiplies the object tint.
    """

    def __init__(self, rng, start=None, end=None, rate=None):
        names = list(PALETTES)
        self.start = start or names[rng.integers(len(names))]
        self.end = end or names[rng.integers(len(names))]
        self.w0 = 0.0 if start else float(rng.uniform(0, 0.6))
        self.rate = float(rng.uniform(0.0, 0.03)) if rate is None else rate
        self.ripple = float(rng.uniform(0.0, 0.08))
        self.phase = float(rng.uniform(0, 6.28))
        self.hue = rng.normal(0, 0.035, 3).astype(np.float32)

    def at(self, t):
        """Return the Light at time t (seconds)."""
        w = float(np.clip(self.w0 + self.rate * t, 0, 1))
        light = blend(PALETTES[self.start], PALETTES[self.end], w)
        gain = 1.0 + self.ripple * np.sin(0.9 * t + self.phase)
        light.tint = light.tint * gain * (1.0 + self.hue)
        light.deep = np.clip(light.deep * (1.0 + 2.5 * self.hue), 0, 1)
        return light
