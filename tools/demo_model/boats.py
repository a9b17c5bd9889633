# SPDX-License-Identifier: Apache-2.0
"""Boats: random specifications and their drawing (side view, bow to +x).

Lengths are metres; a boat's origin is the middle of its waterline.
"""

import numpy as np

from canvas import shade

HULLS = [(0.95, 0.95, 0.93), (0.12, 0.20, 0.38), (0.72, 0.12, 0.12), (0.10, 0.36, 0.30),
         (0.90, 0.75, 0.25), (0.15, 0.15, 0.17), (0.35, 0.60, 0.75), (0.55, 0.33, 0.18),
         (0.93, 0.90, 0.80), (0.85, 0.42, 0.14), (0.45, 0.10, 0.18), (0.62, 0.66, 0.68)]
TRIMS = [(0.75, 0.10, 0.10), (0.95, 0.95, 0.95), (0.10, 0.15, 0.30), (0.08, 0.08, 0.08),
         (0.60, 0.42, 0.22), (0.10, 0.45, 0.55)]
SAILS = [(0.97, 0.96, 0.92), (0.93, 0.90, 0.80), (0.70, 0.25, 0.16), (0.92, 0.94, 0.97),
         (0.25, 0.35, 0.60), (0.90, 0.55, 0.25)]
CABINS = [(0.95, 0.95, 0.94), (0.85, 0.80, 0.68), (0.60, 0.40, 0.22), (0.75, 0.82, 0.86)]
GLASS = (0.12, 0.17, 0.22)
WOOD = (0.50, 0.34, 0.20)
METAL = (0.72, 0.73, 0.75)

LENGTHS = {"yacht": (7, 14), "moored": (7, 13), "gaffer": (8, 15), "trawler": (10, 19),
           "cruiser": (6, 13), "dinghy": (3.2, 5.5), "tug": (12, 20), "speedboat": (5, 8)}
KINDS = list(LENGTHS)
WEIGHTS = np.array([0.22, 0.10, 0.10, 0.15, 0.15, 0.12, 0.08, 0.08])


def boat_spec(rng, kind=None):
    """Draw the looks of one boat at random; returns a plain dict."""
    kind = kind or KINDS[rng.choice(len(KINDS), p=WEIGHTS / WEIGHTS.sum())]
    low, high = LENGTHS[kind]
    pick = lambda table: table[rng.integers(len(table))]
    vary = lambda c: tuple(np.clip(np.array(c) * rng.uniform(0.85, 1.1)
                                   + rng.normal(0, 0.03, 3), 0.03, 1))
    return {"kind": kind, "length": float(rng.uniform(low, high)), "hull": vary(pick(HULLS)),
            "trim": vary(pick(TRIMS)), "sail": vary(pick(SAILS)), "cabin": vary(pick(CABINS)),
            "boot": vary(pick(TRIMS)), "squash": float(rng.uniform(0.42, 1.0)),
            "a": float(rng.random()), "b": float(rng.random()), "c": float(rng.random()),
            "lit": float(rng.uniform(0.75, 1.1))}


def bounds(spec):
    """Extent (xmin, xmax, ymin, ymax) in metres that holds the whole boat."""
    size = spec["length"]
    tall = {"yacht": 1.55, "moored": 1.45, "gaffer": 1.3, "trawler": 0.72, "cruiser": 0.6,
            "dinghy": 0.55, "tug": 0.75, "speedboat": 0.45}[spec["kind"]]
    return (-0.68 * size, 0.68 * size, -0.05 * size, tall * size)


def draw_hull(cv, spec, stern, bow, rake, sag=0.03):
    """Hull with boot stripe, shaded lower half and rail.

    stern, bow: freeboard in metres; rake: overhang of the bow.
    Returns the function that gives the deck height at x.
    """
    size = spec["length"]
    x = np.linspace(-size / 2, size / 2, 15)
    u = (x + size / 2) / size
    deck = stern + (bow - stern) * u ** 2.2 - sag * size * np.sin(np.pi * u)
    deck = np.maximum(deck, 0.25 * stern + 0.1)
    under = np.interp(u, [0, 0.05, 1], [-size / 2 + 0.03 * size, -size / 2 + 0.06 * size,
                                        size / 2 - rake])
    top = np.stack([x, deck], 1)
    level = lambda k: np.stack([under * (1 - k) + x * k, deck * k], 1)
    hull = spec["hull"]
    cv.poly(np.concatenate([top, level(0.0)[::-1] - (0, 0.04 * size)]), shade(hull, spec["lit"]))
    cv.poly(np.concatenate([level(0.5), level(0.0)[::-1] - (0, 0.04 * size)]),
            shade(hull, 0.82 * spec["lit"]))
    cv.poly(np.concatenate([level(0.16), level(0.0)[::-1] - (0, 0.04 * size)]), spec["boot"])
    cv.poly(np.concatenate([level(1.0), level(0.88)[::-1]]), spec["trim"])
    if spec["c"] > 0.6:
        cv.poly(np.concatenate([level(0.62), level(0.54)[::-1]]), spec["trim"])
    return lambda at: float(np.interp(at, x, deck))


def draw_person(cv, x, y, height, color):
    """A tiny seated or standing figure."""
    cv.poly([(x - 0.2, y), (x + 0.2, y), (x + 0.16, y + 0.68 * height),
             (x - 0.16, y + 0.68 * height)], color)
    cv.ellipse(x, y + 0.84 * height, 0.14, 0.16, (0.78, 0.60, 0.48))


def draw_sail(cv, points, color, seams=3):
    """A sail: filled curve with a darker leech and seams."""
    pts = np.asarray(points, float)
    cv.poly(pts, color)
    tack, head, clew = pts[0], pts[len(pts) // 2], pts[-1]
    cv.poly([tack, head, tack * 0.72 + clew * 0.28], shade(color, 0.88))
    for k in range(1, seams + 1):
        w = k / (seams + 1)
        cv.line([tack * (1 - w) + head * w, clew * (1 - w) + head * w], 0.03, shade(color, 0.8))


def draw_yacht(cv, spec):
    """Sloop: mainsail and jib when sailing, bare mast when moored."""
    size, sailing = spec["length"], spec["kind"] == "yacht"
    mast_x, top = 0.06 * size, (1.25 + 0.22 * spec["a"]) * size
    deck = draw_hull(cv, spec, 0.09 * size, 0.13 * size, 0.12 * size, 0.012)
    cv.poly([(-0.22 * size, deck(-0.2 * size)), (-0.18 * size, 0.16 * size),
             (0.10 * size, 0.165 * size), (0.2 * size, deck(0.2 * size))], spec["cabin"])
    for k in range(3):
        cv.rect((-0.13 + 0.08 * k) * size, (-0.08 + 0.08 * k) * size, 0.125 * size,
                0.145 * size, GLASS)
    boom = 0.22 * size
    if sailing:
        bulge = (0.02 + 0.06 * spec["b"]) * size
        clew, head = (-0.42 * size, boom), (mast_x - 0.02 * size, 0.97 * top)
        mid = (0.5 * (clew[0] + head[0]) - bulge, 0.5 * (clew[1] + head[1]))
        draw_sail(cv, [(mast_x, boom), head, mid, clew], spec["sail"])
        if spec["c"] > 0.2:
            jib = spec["sail"] if spec["c"] < 0.8 else spec["trim"]
            draw_sail(cv, [(0.47 * size, 0.15 * size), (mast_x + 0.02 * size, 0.82 * top),
                           (mast_x - 0.03 * size, 0.45 * top),
                           (mast_x - 0.04 * size, 0.20 * size)], jib, 2)
    else:
        cv.line([(mast_x, boom), (-0.38 * size, boom)], 0.035 * size, spec["sail"])
        cv.line([(0.49 * size, 0.13 * size), (mast_x, 0.95 * top)], 0.03, METAL)
        cv.line([(-0.48 * size, 0.1 * size), (mast_x, top)], 0.03, METAL)
    cv.line([(mast_x, 0.12 * size), (mast_x, top)], 0.016 * size, METAL)
    if spec["b"] > 0.35:
        draw_person(cv, -0.34 * size, deck(-0.34 * size) - 0.1, 0.9, spec["trim"])


def draw_gaffer(cv, spec):
    """Gaff-rigged boat, often with tan sails and a topsail."""
    size = spec["length"]
    mast_x, top = 0.1 * size, 1.12 * size
    deck = draw_hull(cv, spec, 0.11 * size, 0.16 * size, 0.06 * size, 0.02)
    cv.rect(-0.2 * size, 0.0, deck(0), 0.19 * size, spec["cabin"])
    gaff = (-0.26 * size, (0.92 + 0.1 * spec["a"]) * size)
    draw_sail(cv, [(mast_x, 0.22 * size), (mast_x, 0.74 * size), gaff,
                   (-0.46 * size, 0.24 * size)], spec["sail"])
    cv.line([(mast_x, 0.74 * size), gaff], 0.014 * size, WOOD)
    cv.line([(mast_x, 0.22 * size), (-0.47 * size, 0.23 * size)], 0.014 * size, WOOD)
    draw_sail(cv, [(0.5 * size, 0.2 * size), (mast_x + 0.03 * size, 0.78 * size),
                   (mast_x + 0.05 * size, 0.3 * size), (mast_x + 0.06 * size, 0.22 * size)],
              shade(spec["sail"], 0.95), 1)
    cv.line([(0.42 * size, 0.16 * size), (0.62 * size, 0.22 * size)], 0.014 * size, WOOD)
    cv.line([(mast_x, 0.1 * size), (mast_x, top)], 0.02 * size, WOOD)


def draw_trawler(cv, spec):
    """Fishing boat: high bow, wheelhouse, mast and gantry."""
    size = spec["length"]
    side = -1 if spec["a"] < 0.5 else 1
    deck = draw_hull(cv, spec, 0.13 * size, 0.24 * size, 0.07 * size, 0.03)
    hx = -0.2 * size if side < 0 else 0.12 * size
    base = deck(hx) - 0.02 * size
    cv.rect(hx - 0.12 * size, hx + 0.1 * size, base, 0.37 * size, spec["cabin"])
    cv.rect(hx - 0.14 * size, hx + 0.13 * size, 0.36 * size, 0.39 * size, spec["trim"])
    for k in range(3):
        x = hx + (-0.09 + 0.065 * k) * size
        cv.rect(x, x + 0.045 * size, 0.28 * size, 0.34 * size, GLASS)
    cv.line([(hx, 0.38 * size), (hx, (0.52 + 0.15 * spec["b"]) * size)], 0.015 * size, METAL)
    gx = -0.42 * size if side > 0 else 0.3 * size
    cv.line([(gx, deck(gx)), (gx, 0.42 * size)], 0.018 * size, spec["trim"])
    cv.line([(gx, 0.41 * size), (hx, 0.5 * size)], 0.012 * size, METAL)
    if spec["b"] > 0.4:
        cv.line([(gx, 0.4 * size), (gx * 1.18, 0.3 * size)], 0.012 * size, METAL)
    for k in range(2):
        cv.ellipse((-0.1 + 0.2 * k + 0.05 * spec["a"]) * size, 0.07 * size, 0.022 * size,
                   0.022 * size, (0.1, 0.1, 0.1))


def draw_cruiser(cv, spec):
    """Motor cruiser with a raked cabin and a flying bridge."""
    size = spec["length"]
    deck = draw_hull(cv, spec, 0.13 * size, 0.19 * size, 0.16 * size, 0.0)
    roof = (0.30 + 0.05 * spec["a"]) * size
    cv.poly([(-0.34 * size, deck(-0.3 * size)), (-0.30 * size, roof), (0.04 * size, roof),
             (0.24 * size, deck(0.24 * size))], spec["cabin"])
    cv.poly([(-0.27 * size, 0.21 * size), (-0.25 * size, roof - 0.03 * size),
             (0.03 * size, roof - 0.03 * size), (0.13 * size, 0.21 * size)], GLASS)
    cv.line([(-0.1 * size, 0.2 * size), (-0.1 * size, roof)], 0.02 * size, spec["cabin"])
    if spec["b"] > 0.45:
        cv.poly([(-0.26 * size, roof), (-0.28 * size, roof + 0.09 * size),
                 (-0.04 * size, roof + 0.06 * size), (0.0, roof)], shade(spec["cabin"], 0.9))
        cv.line([(-0.24 * size, roof), (-0.3 * size, roof + 0.17 * size)], 0.02 * size, METAL)
    cv.line([(0.2 * size, deck(0.2 * size) + 0.06 * size), (0.48 * size, 0.26 * size),
             (0.49 * size, 0.18 * size)], 0.03, METAL)


def draw_dinghy(cv, spec):
    """Rowing boat or tender with one or two people."""
    size = spec["length"]
    deck = draw_hull(cv, spec, 0.14 * size, 0.17 * size, 0.08 * size, 0.02)
    draw_person(cv, -0.1 * size, deck(-0.1 * size) - 0.1, 1.0, spec["trim"])
    if spec["a"] > 0.5:
        draw_person(cv, 0.2 * size, deck(0.2 * size) - 0.1, 0.95, spec["cabin"])
    if spec["b"] > 0.4:
        cv.line([(-0.05 * size, 0.2 * size), (-0.36 * size, 0.02 * size)], 0.06, WOOD)
    else:
        cv.rect(-0.56 * size, -0.48 * size, 0.02 * size, 0.24 * size, (0.12, 0.12, 0.14))


def draw_tug(cv, spec):
    """Tug or small ferry: tiered house and a banded funnel."""
    size = spec["length"]
    deck = draw_hull(cv, spec, 0.12 * size, 0.19 * size, 0.05 * size, 0.015)
    cv.rect(-0.28 * size, 0.24 * size, deck(0) - 0.01 * size, 0.26 * size, spec["cabin"])
    cv.rect(-0.04 * size, 0.2 * size, 0.26 * size, 0.40 * size, shade(spec["cabin"], 0.95))
    cv.rect(-0.06 * size, 0.22 * size, 0.395 * size, 0.42 * size, spec["trim"])
    for k in range(3):
        cv.rect((-0.02 + 0.07 * k) * size, (0.03 + 0.07 * k) * size, 0.32 * size,
                0.37 * size, GLASS)
    for k in range(5):
        cv.ellipse((-0.24 + 0.1 * k) * size, 0.2 * size, 0.015 * size, 0.015 * size, GLASS)
    cv.rect(-0.2 * size, -0.1 * size, 0.26 * size, 0.47 * size, spec["trim"])
    cv.rect(-0.2 * size, -0.1 * size, 0.37 * size, 0.42 * size, (0.92, 0.9, 0.85))
    cv.rect(-0.2 * size, -0.1 * size, 0.455 * size, 0.48 * size, (0.08, 0.08, 0.08))
    cv.line([(0.08 * size, 0.42 * size), (0.08 * size, 0.64 * size)], 0.014 * size, METAL)


def draw_speedboat(cv, spec):
    """Low open motorboat with a windscreen and a driver."""
    size = spec["length"]
    deck = draw_hull(cv, spec, 0.12 * size, 0.15 * size, 0.2 * size, 0.0)
    draw_person(cv, -0.12 * size, deck(-0.1 * size) - 0.2, 1.0, spec["trim"])
    cv.poly([(0.02 * size, 0.13 * size), (-0.05 * size, 0.25 * size), (-0.02 * size, 0.25 * size),
             (0.12 * size, 0.14 * size)], shade(GLASS, 2.2))
    cv.rect(-0.55 * size, -0.47 * size, 0.04 * size, 0.22 * size, (0.1, 0.1, 0.12))


DRAW = {"yacht": draw_yacht, "moored": draw_yacht, "gaffer": draw_gaffer,
        "trawler": draw_trawler, "cruiser": draw_cruiser, "dinghy": draw_dinghy,
        "tug": draw_tug, "speedboat": draw_speedboat}


def draw_boat(cv, spec):
    """Draw the boat of spec on the canvas; the waterline cut is the caller's."""
    DRAW[spec["kind"]](cv, spec)
