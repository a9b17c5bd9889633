// SPDX-License-Identifier: Apache-2.0
// Boxes and the letterbox rule.
#include "halyard/geometry.h"

#include <cmath>

#include "base/box_math.h"

namespace halyard {
namespace {

struct Sides {
  double x1, y1, x2, y2;
};

Sides sides(const RegionF& region) noexcept {
  return {region.x, region.y, region.x + region.width, region.y + region.height};
}

}  // namespace

float iou(const Box& a, const Box& b) noexcept {
  return overlap_areas<float>(a, b).iou();
}

double iou(const RegionF& a, const RegionF& b) noexcept {
  return OverlapAreas<double>{shared_area<double>(sides(a), sides(b)), a.width * a.height,
                              b.width * b.height}
      .iou();
}

float ios(const Box& a, const Box& b) noexcept {
  if (!is_finite(a) || !is_finite(b)) return 0;
  return static_cast<float>(overlap_areas<double>(a, b).ios());
}

namespace {

// A horizontal flip, then clockwise rotations by 90 degrees. Every orientation has this form.
struct Turn {
  int quarters = 0;
  bool mirrored = false;
};

// A vertical flip equals a horizontal flip and a rotation by 180 degrees.
Turn to_turn(Orientation o) noexcept {
  const int quarters = static_cast<int>(o.rotation);
  if (o.flip == Flip::vertical) return {(quarters + 2) % 4, true};
  return {quarters, o.flip == Flip::horizontal};
}

Orientation to_orientation(Turn turn) noexcept {
  return {turn.mirrored ? Flip::horizontal : Flip::none, static_cast<Rotation>(turn.quarters)};
}

Region hal_letterbox(double width, double height, Size target) noexcept {
  const double source_aspect = width / height;
  const double target_aspect = static_cast<double>(target.width) / target.height;
  Size content = target;
  if (source_aspect > target_aspect) {
    content.height = std::max(1, static_cast<int>(std::lround(target.width / source_aspect)));
  } else {
    content.width = std::max(1, static_cast<int>(std::lround(target.height * source_aspect)));
  }
  return {(target.width - content.width) / 2, (target.height - content.height) / 2, content.width,
          content.height};
}

Region trained_letterbox(double width, double height, Size target, double maximum) noexcept {
  const double ratio = std::min({target.width / width, target.height / height, maximum});
  const auto scaled = [ratio](double extent, int limit) {
    return std::clamp(static_cast<int>(std::nearbyint(extent * ratio)), 1, limit);
  };
  const Size content{scaled(width, target.width), scaled(height, target.height)};
  const auto offset = [](int whole, int part) {
    return std::max(static_cast<int>(std::nearbyint((whole - part) / 2.0 - 0.1)), 0);
  };
  return {offset(target.width, content.width), offset(target.height, content.height), content.width,
          content.height};
}

}  // namespace

Orientation then(Orientation first, Orientation second) noexcept {
  const Turn a = to_turn(first);
  const Turn b = to_turn(second);
  // A flip reverses the direction of the rotations before it.
  return to_orientation(
      {(b.quarters + (b.mirrored ? 4 - a.quarters : a.quarters)) % 4, a.mirrored != b.mirrored});
}

// An orientation with a flip is its own inverse.
Orientation inverse(Orientation orientation) noexcept {
  const Turn turn = to_turn(orientation);
  return to_orientation({turn.mirrored ? turn.quarters : (4 - turn.quarters) % 4, turn.mirrored});
}

RegionF oriented(const RegionF& part, Size whole, Orientation orientation) noexcept {
  RegionF r = part;
  if (orientation.flip == Flip::horizontal) r.x = whole.width - (part.x + part.width);
  if (orientation.flip == Flip::vertical) r.y = whole.height - (part.y + part.height);
  const double right = whole.width - (r.x + r.width);
  const double below = whole.height - (r.y + r.height);
  switch (orientation.rotation) {
    case Rotation::cw90:
      return {below, r.x, r.height, r.width};
    case Rotation::cw180:
      return {right, below, r.width, r.height};
    case Rotation::cw270:
      return {r.y, right, r.height, r.width};
    case Rotation::none:
      break;
  }
  return r;
}

Affine then(const Affine& first, const Affine& second) noexcept {
  const auto& a = second.m;
  const auto& b = first.m;
  return {{a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
           a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]}};
}

Affine inverse(const Affine& map) noexcept {
  const auto& m = map.m;
  const double d = m[0] * m[4] - m[1] * m[3];
  return {{m[4] / d, -m[1] / d, (m[1] * m[5] - m[4] * m[2]) / d, -m[3] / d, m[0] / d,
           (m[3] * m[2] - m[0] * m[5]) / d}};
}

Region letterbox_region(double width, double height, Size target, LetterboxRule rule) noexcept {
  if (!(width > 0) || !(height > 0)) return {0, 0, target.width, target.height};
  switch (rule) {
    case LetterboxRule::ultralytics:
      return trained_letterbox(width, height, target, HUGE_VAL);
    case LetterboxRule::ultralytics_val:
      return trained_letterbox(width, height, target, 1.0);
    case LetterboxRule::hal:
      break;
  }
  return hal_letterbox(width, height, target);
}

Region letterbox_region(Size source, Size target, LetterboxRule rule) noexcept {
  return letterbox_region(source.width, source.height, target, rule);
}

}  // namespace halyard
