// SPDX-License-Identifier: Apache-2.0
// The map between source and destination pixels.
#include "halyard/placement.h"

#include <algorithm>
#include <utility>

namespace halyard {
namespace {

using Affine = std::array<double, 6>;

// (a after b)(p) = a(b(p)).
Affine after(const Affine& a, const Affine& b) {
  return {a[0] * b[0] + a[1] * b[3], a[0] * b[1] + a[1] * b[4], a[0] * b[2] + a[1] * b[5] + a[2],
          a[3] * b[0] + a[4] * b[3], a[3] * b[1] + a[4] * b[4], a[3] * b[2] + a[4] * b[5] + a[5]};
}

Affine inverse_of(const Affine& m) {
  const double d = m[0] * m[4] - m[1] * m[3];
  return {m[4] / d,  -m[1] / d, (m[1] * m[5] - m[4] * m[2]) / d,
          -m[3] / d, m[0] / d,  (m[3] * m[2] - m[0] * m[5]) / d};
}

Point apply(const Affine& m, Point p) {
  return {static_cast<float>(m[0] * p.x + m[1] * p.y + m[2]),
          static_cast<float>(m[3] * p.x + m[4] * p.y + m[5])};
}

Box apply(const Affine& m, const Box& b) {
  const Point p = apply(m, Point{b.x1, b.y1});
  const Point q = apply(m, Point{b.x2, b.y2});
  return {std::min(p.x, q.x), std::min(p.y, q.y), std::max(p.x, q.x), std::max(p.y, q.y)};
}

Affine flip_of(Flip flip, double width, double height) {
  if (flip == Flip::horizontal) return {-1, 0, width, 0, 1, 0};
  if (flip == Flip::vertical) return {1, 0, 0, 0, -1, height};
  return {1, 0, 0, 0, 1, 0};
}

// Clockwise turn of a width x height picture about its corner, moved back into the first quadrant.
Affine turn_of(Rotation rotation, double width, double height) {
  switch (rotation) {
    case Rotation::cw90:
      return {0, -1, height, 1, 0, 0};
    case Rotation::cw180:
      return {-1, 0, width, 0, -1, height};
    case Rotation::cw270:
      return {0, 1, 0, -1, 0, width};
    case Rotation::none:
      break;
  }
  return {1, 0, 0, 0, 1, 0};
}

}  // namespace

Placement::Placement(Size source, Region crop, Flip flip, Rotation rotation, Size destination,
                     Region content) noexcept
    : source_(source), destination_(destination), crop_(crop), content_(content) {
  const double width = crop.width;
  const double height = crop.height;
  const bool swaps = rotation == Rotation::cw90 || rotation == Rotation::cw270;
  const double turned_width = swaps ? height : width;
  const double turned_height = swaps ? width : height;
  const double sx = content.width / turned_width;
  const double sy = content.height / turned_height;
  const Affine cut{1, 0, -static_cast<double>(crop.x), 0, 1, -static_cast<double>(crop.y)};
  const Affine put{sx, 0, static_cast<double>(content.x), 0, sy, static_cast<double>(content.y)};
  forward_ =
      after(put, after(turn_of(rotation, width, height), after(flip_of(flip, width, height), cut)));
  inverse_ = inverse_of(forward_);
}

Point Placement::to_source(Point destination) const noexcept {
  return apply(inverse_, destination);
}

Point Placement::to_destination(Point source) const noexcept {
  return apply(forward_, source);
}

Box Placement::to_source(const Box& destination) const noexcept {
  const Box box = apply(inverse_, destination);
  const auto width = static_cast<float>(source_.width);
  const auto height = static_cast<float>(source_.height);
  return {std::clamp(box.x1, 0.0F, width), std::clamp(box.y1, 0.0F, height),
          std::clamp(box.x2, 0.0F, width), std::clamp(box.y2, 0.0F, height)};
}

Box Placement::to_destination(const Box& source) const noexcept {
  return apply(forward_, source);
}

std::vector<Detection> Placement::to_source(std::vector<Detection> detections) const {
  for (Detection& detection : detections)
    detection.box = to_source(detection.box);
  return detections;
}

}  // namespace halyard
