// SPDX-License-Identifier: Apache-2.0
// Sizes, regions, boxes, and the enumerations for rotating and fitting images. Contains no pixel
// code.
#pragma once

#include <algorithm>
#include <array>
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

/// A rectangle whose sides may lie between pixels; (x, y) is its top left corner.
struct RegionF {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  constexpr RegionF() = default;
  constexpr RegionF(double left, double top, double wide, double high) noexcept
      : x(left), y(top), width(wide), height(high) {}
  constexpr RegionF(const Region& r) noexcept  // NOLINT(google-explicit-constructor)
      : x(r.x), y(r.y), width(r.width), height(r.height) {}
  friend bool operator==(const RegionF&, const RegionF&) = default;
};

/// A point in pixels; pixel (i, j) covers [i, i+1) x [j, j+1), so its centre is (i+0.5, j+0.5).
struct Point {
  float x = 0;
  float y = 0;
};

/// An axis-aligned box in pixels of the image it belongs to; x1 <= x2 and y1 <= y2 when
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
double iou(const RegionF& a, const RegionF& b) noexcept;

/// Intersection over the smaller area in [0, 1], computed in double; 0 when either box is empty or
/// not finite. It is 1 if one box lies in the other, as the part of an object that a tile cut off
/// lies in the whole object.
float ios(const Box& a, const Box& b) noexcept;

/// Clockwise rotation, applied after the flip.
enum class Rotation : std::uint8_t { none = 0, cw90 = 1, cw180 = 2, cw270 = 3 };

/// Mirror, applied before the rotation: vertical swaps top and bottom, horizontal left and right.
enum class Flip : std::uint8_t { none = 0, vertical = 1, horizontal = 2 };

/// A flip, then a clockwise rotation, as EXIF tags store it.
struct Orientation {
  Flip flip = Flip::none;
  Rotation rotation = Rotation::none;
  friend bool operator==(const Orientation&, const Orientation&) = default;
};

/// The single orientation that equals `first`, then `second`.
Orientation then(Orientation first, Orientation second) noexcept;
/// The orientation that undoes it: then(o, inverse(o)) changes nothing.
Orientation inverse(Orientation orientation) noexcept;
inline bool swaps_axes(Rotation rotation) noexcept {
  return rotation == Rotation::cw90 || rotation == Rotation::cw270;
}
/// Extent of an image of `stored` size once its orientation is applied.
inline Size oriented(Size stored, Orientation orientation) noexcept {
  return swaps_axes(orientation.rotation) ? Size{stored.height, stored.width} : stored;
}
/// Position of a part of an image of size `whole` after the image's orientation is applied. The
/// inverse, from the upright to the stored image, is oriented(part, upright, inverse(orientation)).
RegionF oriented(const RegionF& part, Size whole, Orientation orientation) noexcept;

/// A map of the plane, (x, y) -> (m[0] x + m[1] y + m[2], m[3] x + m[4] y + m[5]), in continuous
/// pixel coordinates: the centre of the first pixel is (0.5, 0.5).
struct Affine {
  std::array<double, 6> m{1, 0, 0, 0, 1, 0};
  friend bool operator==(const Affine&, const Affine&) = default;
};
/// The map that first applies `first`, then `second`.
Affine then(const Affine& first, const Affine& second) noexcept;
/// The inverse map. Its elements are not finite if there is none (determinant 0).
Affine inverse(const Affine& map) noexcept;

/// How the rotated image fits into the destination rectangle:
/// - stretch: fills it;
/// - letterbox: keeps the aspect ratio, centred, the rest is pad;
/// - cover: keeps the aspect ratio and fills it; the excess is cut off equally on both sides;
/// - top_left: keeps the aspect ratio, in the top left corner, the rest is pad.
enum class Fit : std::uint8_t { stretch = 0, letterbox = 1, cover = 2, top_left = 3 };

/// How a letterboxed image is rounded to whole pixels; w x h into W x H:
/// - hal: sa = w/h, da = W/H; sa > da: W x max(1, round(W/sa)), else max(1, round(H*sa)) x H; the
///   offset is half of the remainder, rounded down. EdgeFirst HAL's rule.
/// - ultralytics: r = min(W/w, H/h); round(w r) x round(h r), at least 1, halves to even; the
///   offset is round((W - width)/2 - 0.1), and likewise for rows. The rule of Ultralytics'
///   prediction.
/// - ultralytics_val: the same with r at most 1, so that nothing is enlarged. The rule of
///   Ultralytics' validation.
enum class LetterboxRule : std::uint8_t { hal = 0, ultralytics = 1, ultralytics_val = 2 };

/// Rectangle in `target` that an image of size `source` (width x height, after any rotation) fills
/// by a rule. An empty source gives the whole target.
Region letterbox_region(double width, double height, Size target, LetterboxRule rule) noexcept;
Region letterbox_region(Size source, Size target, LetterboxRule rule = LetterboxRule::hal) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
