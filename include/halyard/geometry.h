// SPDX-License-Identifier: Apache-2.0
// Sizes, regions, boxes and the words for turning and fitting pictures. No pixels here.
#pragma once

#include <algorithm>
#include <cstdint>

#include "halyard/export.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Extent in pixels.
struct Size {
  std::int32_t width = 0;
  std::int32_t height = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

/// A rectangle of whole pixels; (x, y) is its top left corner.
struct Region {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::int32_t width = 0;
  std::int32_t height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

/// A point in pixels; pixel (i, j) covers [i, i+1) x [j, j+1), so its centre is (i+0.5, j+0.5).
struct Point {
  float x = 0;
  float y = 0;
};

/// An axis-aligned box in pixels of the picture it belongs to; x1 <= x2 and y1 <= y2 when
/// canonical.
struct Box {
  float x1 = 0;
  float y1 = 0;
  float x2 = 0;
  float y2 = 0;
  float width() const noexcept { return x2 - x1; }
  float height() const noexcept { return y2 - y1; }
  /// 0 for empty and inverted boxes.
  float area() const noexcept { return std::max(0.0F, width()) * std::max(0.0F, height()); }
  friend bool operator==(const Box&, const Box&) = default;
};

/// Intersection over union in [0, 1]; 0 when either box is empty.
float iou(const Box& a, const Box& b) noexcept;

/// Clockwise turn, applied after the flip.
enum class Rotation : std::uint8_t { none = 0, cw90 = 1, cw180 = 2, cw270 = 3 };

/// Mirror, applied before the rotation: vertical swaps top and bottom, horizontal left and right.
enum class Flip : std::uint8_t { none = 0, vertical = 1, horizontal = 2 };

/// How the picture meets the destination rectangle: `stretch` fills it; `letterbox` keeps the
/// aspect ratio, centres, and fills the rest with the pad colour.
enum class Fit : std::uint8_t { stretch = 0, letterbox = 1 };

/// Where a picture of `source` size lands in `target` when letterboxed (both after any rotation):
/// sa = sw/sh, da = dw/dh in double; sa > da: nw = dw, nh = max(1, round(dw/sa)); else
/// nw = max(1, round(dh*sa)), nh = dh; left and top are half of the rest, rounded down.
Region letterbox_region(Size source, Size target) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
