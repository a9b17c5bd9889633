# SPDX-License-Identifier: Apache-2.0
"""Buoys, gulls and objects that belong to none of the three classes (distractors).

Lengths are metres; origins are on the waterline (a flying gull's: its body).
"""

import numpy as np

from canvas import shade

BUOY_COLORS = [(0.82, 0.12, 0.10), (0.08, 0.45, 0.22), (0.95, 0.78, 0.10), (0.95, 0.42, 0.08),
               (0.92, 0.92, 0.90), (0.85, 0.25, 0.40)]
BUOY_KINDS = {"can": (1.0, 1.8), "cone": (1.0, 1.9), "ball": (0.8, 1.5), "pillar": (1.9, 3.4),
              "spar": (2.0, 3.2)}
DARK = (0.10, 0.10, 0.11)


def buoy_spec(rng):
    """Looks of one buoy: kind, height in metres, two colours, bands."""
    kind = list(BUOY_KINDS)[rng.choice(5, p=[0.24, 0.2, 0.26, 0.2, 0.1])]
    first = BUOY_COLORS[rng.integers(len(BUOY_COLORS))]
    second = DARK if rng.random() < 0.4 else BUOY_COLORS[rng.integers(len(BUOY_COLORS))]
    fade = rng.uniform(0.8, 1.08)
    return {"kind": kind, "height": float(rng.uniform(*BUOY_KINDS[kind])),
            "first": shade(first, fade), "second": shade(second, fade),
            "bands": bool(rng.random() < 0.4), "a": float(rng.random())}


def buoy_bounds(spec):
    """Extent (xmin, xmax, ymin, ymax) in metres."""
    h = spec["height"]
    return (-0.75 * h, 0.75 * h, -0.1 * h, 1.1 * h)


def _round_body(cv, outline, spec, height):
    """Fill a body of revolution: mid tone, lit left, shaded right, bands.

    outline: list of (half width, y) from bottom to top.
    """
    o = np.array(outline)
    side = lambda k, lo=0, hi=None: np.stack([o[lo:hi, 0] * k, o[lo:hi, 1]], 1)
    cv.poly(np.concatenate([side(-1), side(1)[::-1]]), spec["first"])
    if spec["bands"]:
        y = np.array([0.42, 0.68]) * height
        w = np.interp(y, o[:, 1], o[:, 0])
        cv.poly([(-w[0], y[0]), (w[0], y[0]), (w[1], y[1]), (-w[1], y[1])], spec["second"])
    cv.poly(np.concatenate([side(0.45), side(1)[::-1]]), shade(spec["first"], 0.68))
    if spec["bands"]:
        cv.poly([(0.45 * w[0], y[0]), (w[0], y[0]), (w[1], y[1]), (0.45 * w[1], y[1])],
                shade(spec["second"], 0.68))
    cv.poly(np.concatenate([side(-0.78), side(-0.5)[::-1]]),
            tuple(0.75 * c + 0.25 for c in spec["first"]))


def _pillar(cv, spec, h):
    """Pillar buoy: float, lattice tower, lantern or topmark."""
    _round_body(cv, [(0.30 * h, -0.1 * h), (0.32 * h, 0.08 * h), (0.26 * h, 0.18 * h),
                     (0.05 * h, 0.2 * h)], dict(spec, bands=False), h)
    for k in (-1, 0, 1):
        cv.line([(0.17 * h * k, 0.18 * h), (0.07 * h * k, 0.75 * h)], 0.035 * h, spec["first"])
    cv.line([(-0.15 * h, 0.3 * h), (0.1 * h, 0.55 * h)], 0.02 * h, spec["second"])
    cv.line([(0.15 * h, 0.3 * h), (-0.1 * h, 0.55 * h)], 0.02 * h, spec["second"])
    if spec["bands"]:
        cv.poly([(-0.15 * h, 0.35 * h), (0.15 * h, 0.35 * h), (0.1 * h, 0.6 * h),
                 (-0.1 * h, 0.6 * h)], spec["second"])
    cv.rect(-0.11 * h, 0.11 * h, 0.72 * h, 0.78 * h, spec["first"])
    if spec["a"] < 0.35:
        cv.poly([(-0.12 * h, 0.8 * h), (0.12 * h, 0.8 * h), (0.0, 1.0 * h)], spec["second"])
    elif spec["a"] < 0.7:
        cv.ellipse(0, 0.9 * h, 0.1 * h, 0.1 * h, spec["second"])
    else:
        cv.rect(-0.05 * h, 0.05 * h, 0.78 * h, 0.96 * h, (0.95, 0.93, 0.7))


def draw_buoy(cv, spec):
    """Draw one buoy; parts under the waterline are cut by the caller."""
    h, kind = spec["height"], spec["kind"]
    if kind == "can":
        _round_body(cv, [(0.34 * h, -0.1 * h), (0.36 * h, 0.1 * h), (0.36 * h, 0.84 * h),
                         (0.31 * h, 0.9 * h)], spec, h)
        cv.line([(-0.08 * h, 0.9 * h), (-0.08 * h, h), (0.08 * h, h), (0.08 * h, 0.9 * h)],
                0.04 * h, DARK)
    elif kind == "cone":
        _round_body(cv, [(0.36 * h, -0.1 * h), (0.42 * h, 0.1 * h), (0.40 * h, 0.25 * h),
                         (0.06 * h, 0.97 * h)], spec, h)
    elif kind == "ball":
        t = np.linspace(-0.35 * np.pi, 0.5 * np.pi, 14)
        _round_body(cv, np.stack([0.5 * h * np.cos(t), 0.42 * h + 0.5 * h * np.sin(t)], 1),
                    spec, h)
        cv.ellipse(0, 0.96 * h, 0.07 * h, 0.06 * h, DARK)
    elif kind == "pillar":
        _pillar(cv, spec, h)
    else:
        _round_body(cv, [(0.10 * h, -0.1 * h), (0.10 * h, 0.1 * h), (0.085 * h, 0.94 * h),
                         (0.05 * h, 0.98 * h)], spec, h)
        if spec["a"] > 0.5:
            cv.poly([(-0.16 * h, 0.86 * h), (0.16 * h, 0.86 * h), (0, 1.05 * h)], spec["second"])


def gull_spec(rng, floating=False):
    """Looks of one gull: wing span in metres, plumage, flap rate (rad/s)."""
    grey = rng.uniform(0.5, 0.75)
    white = rng.uniform(0.88, 1.0)
    return {"span": float(rng.uniform(1.1, 1.6)), "wing": (grey, grey, grey * 1.04),
            "body": (white, white, white * 0.98), "rate": float(rng.uniform(3, 9)),
            "phase": float(rng.uniform(0, 6.28)), "pitch": float(rng.uniform(-0.2, 0.25)),
            "squash": float(rng.uniform(0.6, 1.0)), "floating": floating,
            "glide": bool(rng.random() < 0.3), "young": bool(rng.random() < 0.15)}


def gull_bounds(spec):
    """Extent (xmin, xmax, ymin, ymax) in metres."""
    s = spec["span"]
    return (-0.4 * s, 0.4 * s, -0.06, 0.35 * s) if spec["floating"] else \
        (-0.6 * s, 0.6 * s, -0.45 * s, 0.55 * s)


def _gull_colors(spec):
    body = (0.62, 0.54, 0.45) if spec["young"] else spec["body"]
    wing = (0.50, 0.43, 0.36) if spec["young"] else spec["wing"]
    return body, wing


def _wing(cv, s, side, lift, wing, lag):
    """One wing: inner and outer panel, dark tip; side is -1 or +1."""
    ex, ey = side * 0.21 * s, 0.06 * s + 0.24 * s * lift
    tx, ty = side * 0.5 * s, ey + 0.26 * s * (lift * 0.6 - 0.35 + lag)
    chord = 0.075 * s
    color = wing if side > 0 else shade(wing, 1.18)
    cv.poly([(side * 0.02 * s, 0.05 * s), (ex, ey + 0.5 * chord), (ex, ey - 0.6 * chord),
             (side * 0.01 * s, -0.03 * s)], color)
    cv.poly([(ex, ey + 0.5 * chord), (tx, ty), (ex, ey - 0.6 * chord)], shade(color, 0.93))
    mx, my = 0.35 * ex + 0.65 * tx, 0.35 * ey + 0.65 * ty
    cv.poly([(mx, my + 0.22 * chord), (tx, ty), (mx, my - 0.28 * chord)], DARK)


def draw_gull(cv, spec, t):
    """Draw a flying or floating gull at time t (seconds)."""
    s = spec["span"]
    body, wing = _gull_colors(spec)
    if spec["floating"]:
        cv.ellipse(0, 0.09 * s, 0.2 * s, 0.1 * s, body, 0.08)
        cv.poly([(-0.3 * s, 0.17 * s), (0.08 * s, 0.19 * s), (0.0, 0.08 * s),
                 (-0.16 * s, 0.1 * s)], wing)
        cv.poly([(-0.34 * s, 0.18 * s), (-0.2 * s, 0.18 * s), (-0.2 * s, 0.14 * s)], DARK)
        cv.poly([(0.1 * s, 0.14 * s), (0.12 * s, 0.25 * s), (0.2 * s, 0.24 * s),
                 (0.18 * s, 0.1 * s)], body)
        cv.ellipse(0.17 * s, 0.26 * s, 0.055 * s, 0.05 * s, body)
        cv.poly([(0.21 * s, 0.27 * s), (0.29 * s, 0.245 * s), (0.21 * s, 0.24 * s)],
                (0.9, 0.65, 0.1))
        return
    beat = 0.25 if spec["glide"] else np.sin(spec["rate"] * t + spec["phase"])
    lift = 0.18 + 0.75 * float(beat)
    lag = 0.0 if spec["glide"] else 0.25 * float(np.cos(spec["rate"] * t + spec["phase"]))
    _wing(cv, s, -1, lift, wing, lag)
    tilt = spec["pitch"]
    cv.ellipse(0, 0, 0.15 * s, 0.055 * s, body, tilt)
    c, d = np.cos(tilt), np.sin(tilt)
    at = lambda x, y: (x * c - y * d, x * d + y * c)
    cv.poly([at(-0.11 * s, 0.03 * s), at(-0.22 * s, 0.035 * s), at(-0.22 * s, -0.02 * s),
             at(-0.11 * s, -0.02 * s)], body)
    hx, hy = at(0.16 * s, 0.02 * s)
    cv.ellipse(hx, hy, 0.045 * s, 0.04 * s, body)
    cv.poly([(hx + 0.03 * s, hy + 0.012 * s), (hx + 0.1 * s, hy - 0.012 * s),
             (hx + 0.03 * s, hy - 0.018 * s)], (0.9, 0.65, 0.1))
    _wing(cv, s, 1, lift, wing, lag)


def distractor_spec(rng):
    """Piles, a log or a small jetty: things in the water of no class."""
    kind = ["piles", "log", "jetty", "rock"][rng.choice(4, p=[0.4, 0.2, 0.25, 0.15])]
    width = {"piles": (1.5, 5), "log": (1.5, 3.5), "jetty": (8, 18), "rock": (2, 6)}[kind]
    tone = rng.uniform(0.22, 0.42)
    return {"kind": kind, "width": float(rng.uniform(*width)),
            "color": (tone * 1.15, tone * 0.95, tone * 0.78), "a": float(rng.random()),
            "shape": rng.uniform(0.5, 1.0, 9).tolist(), "count": int(rng.integers(1, 5))}


def distractor_bounds(spec):
    """Extent (xmin, xmax, ymin, ymax) in metres."""
    w = spec["width"]
    tall = {"piles": 3.2, "log": 0.5, "jetty": 2.8, "rock": 0.55 * w}[spec["kind"]]
    return (-0.56 * w, 0.56 * w, -0.15, tall)


def draw_distractor(cv, spec):
    """Draw piles, a log, a jetty or a rock."""
    w, color, shape = spec["width"], spec["color"], spec["shape"]
    if spec["kind"] == "piles":
        for k in range(spec["count"]):
            x = -0.45 * w + 0.9 * w * (k + 0.5) / spec["count"]
            y = 2.9 * shape[k]
            cv.rect(x - 0.17, x + 0.17, -0.15, y, color)
            cv.rect(x + 0.03, x + 0.17, -0.15, y, shade(color, 0.65))
            cv.rect(x - 0.19, x + 0.19, y - 0.12, y, shade(color, 1.7))
    elif spec["kind"] == "log":
        cv.line([(-0.5 * w, 0.05), (0.5 * w, 0.05 + 0.3 * spec["a"])], 0.3, color)
        cv.line([(-0.48 * w, 0.13), (0.48 * w, 0.13 + 0.3 * spec["a"])], 0.06, shade(color, 1.5))
    elif spec["kind"] == "jetty":
        for k in range(7):
            x = -0.48 * w + 0.96 * w * k / 6
            cv.rect(x - 0.14, x + 0.14, -0.15, 1.3 + (0.9 if k % 3 == 0 else 0), color)
        cv.rect(-0.5 * w, 0.5 * w, 1.1, 1.4, shade(color, 1.5))
        cv.rect(-0.5 * w, 0.5 * w, 1.1, 1.18, shade(color, 0.7))
    else:
        x = np.linspace(-0.5 * w, 0.5 * w, 9)
        y = 0.5 * w * np.sin(np.linspace(0, np.pi, 9)) * np.array(shape)
        cv.poly(np.concatenate([np.stack([x, y], 1), [(0.5 * w, -0.15), (-0.5 * w, -0.15)]]),
                shade(color, 1.1))
        cv.poly(np.concatenate([np.stack([x[4:], y[4:]], 1), [(0.5 * w, -0.15), (0, -0.15)]]),
                shade(color, 0.75))
