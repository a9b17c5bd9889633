# SPDX-License-Identifier: Apache-2.0
"""Supersampled RGBA canvas in object coordinates (metres, y up).

An object is drawn with opaque shapes on a canvas that is 2 or 3 times finer
than the image; the area average of it gives premultiplied colour with an
antialiased coverage (alpha).
"""

import cv2
import numpy as np


def shade(color, k):
    """Scale an RGB colour (0..1) by k and keep it in range."""
    return tuple(float(min(1.0, max(0.0, c * k))) for c in color)


class Canvas:
    """Draws one object at image point (x0, y0).

    bounds: (xmin, xmax, ymin, ymax) in metres around the object's origin,
    scale: pixels per metre, squash: horizontal factor of the yaw,
    flip: -1 mirrors left and right, roll: rotation in radians.
    """

    def __init__(self, x0, y0, bounds, scale, squash=1.0, flip=1, roll=0.0):
        xmin, xmax, ymin, ymax = bounds
        half = max(abs(xmin), abs(xmax)) * scale * squash
        lean = abs(np.sin(roll)) * max(ymax, -ymin) * scale
        drop = abs(np.sin(roll)) * half
        self.left = int(np.floor(x0 - half - lean)) - 2
        self.top = int(np.floor(y0 - ymax * scale - drop)) - 2
        self.width = int(np.ceil(2 * (half + lean))) + 5
        self.height = int(np.ceil((ymax - ymin) * scale + 2 * drop)) + 5
        self.ss = 3 if max(self.width, self.height) < 260 else 2
        self.scale, self.squash, self.flip = scale, squash, flip
        self.cos, self.sin = float(np.cos(roll)), float(np.sin(roll))
        self.origin = (x0 - self.left, y0 - self.top)
        self.image = np.zeros((self.height * self.ss, self.width * self.ss, 4), np.uint8)

    def to_pixels(self, points):
        """Metres [N,2] to fixed-point canvas coordinates (4 fractional bits)."""
        p = np.asarray(points, np.float64)
        x = p[:, 0] * self.squash * self.flip
        y = p[:, 1]
        u = self.origin[0] + (x * self.cos + y * self.sin) * self.scale
        v = self.origin[1] - (y * self.cos - x * self.sin) * self.scale
        return np.round(np.stack([u, v], 1) * self.ss * 16).astype(np.int32)

    def _ink(self, color):
        return tuple(int(round(255 * min(1.0, max(0.0, c)))) for c in color) + (255,)

    def poly(self, points, color):
        """Fill a polygon given in metres."""
        cv2.fillPoly(self.image, [self.to_pixels(points)], self._ink(color), cv2.LINE_8, 4)

    def line(self, points, width, color):
        """Stroke a polyline; width in metres, at least one image pixel."""
        px = max(1.05, width * self.scale) * self.ss
        pts = self.to_pixels(points)
        cv2.polylines(self.image, [pts], False, self._ink(color), max(1, int(round(px))),
                      cv2.LINE_8, 4)

    def ellipse(self, cx, cy, rx, ry, color, angle=0.0):
        """Fill an ellipse; radii in metres, angle in radians."""
        t = np.linspace(0, 2 * np.pi, 28)
        x, y = rx * np.cos(t), ry * np.sin(t)
        c, s = np.cos(angle), np.sin(angle)
        self.poly(np.stack([cx + x * c - y * s, cy + x * s + y * c], 1), color)

    def rect(self, xa, xb, ya, yb, color):
        """Fill an axis-aligned rectangle."""
        self.poly([(xa, ya), (xb, ya), (xb, yb), (xa, yb)], color)

    def clip_below(self, y):
        """Erase what lies under height y (metres), e.g. under the waterline."""
        row = int(round((self.origin[1] - y * self.scale) * self.ss))
        self.image[max(0, row):] = 0

    def finish(self):
        """Return premultiplied float32 RGBA [h,w,4] in 0..1 at image scale."""
        small = cv2.resize(self.image, (self.width, self.height),
                           interpolation=cv2.INTER_AREA).astype(np.float32) / 255.0
        small[..., :3] *= np.where(small[..., 3:] > 0, 1.0, 0.0)
        return small
