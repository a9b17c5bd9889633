// SPDX-License-Identifier: Apache-2.0
// The map between source and destination pixels.
#include "halyard/placement.h"

#include <algorithm>
#include <utility>

namespace halyard {
namespace {

Point apply(const Affine& map, Point p) {
  const auto& m = map.m;
  return {static_cast<float>(m[0] * p.x + m[1] * p.y + m[2]),
          static_cast<float>(m[3] * p.x + m[4] * p.y + m[5])};
}

Box apply(const Affine& m, const Box& b) {
  const Point p = apply(m, Point{b.x1, b.y1});
  const Point q = apply(m, Point{b.x2, b.y2});
  const Point r = apply(m, Point{b.x1, b.y2});
  const Point s = apply(m, Point{b.x2, b.y1});
  return {std::min({p.x, q.x, r.x, s.x}), std::min({p.y, q.y, r.y, s.y}),
          std::max({p.x, q.x, r.x, s.x}), std::max({p.y, q.y, r.y, s.y})};
}

Affine flip_of(Flip flip, double width, double height) {
  if (flip == Flip::horizontal) return {{-1, 0, width, 0, 1, 0}};
  if (flip == Flip::vertical) return {{1, 0, 0, 0, -1, height}};
  return {{1, 0, 0, 0, 1, 0}};
}

// Clockwise rotation of a width x height image about its corner, moved back into the first
// quadrant.
Affine turn_of(Rotation rotation, double width, double height) {
  switch (rotation) {
    case Rotation::cw90:
      return {{0, -1, height, 1, 0, 0}};
    case Rotation::cw180:
      return {{-1, 0, width, 0, -1, height}};
    case Rotation::cw270:
      return {{0, 1, 0, -1, 0, width}};
    case Rotation::none:
      break;
  }
  return {{1, 0, 0, 0, 1, 0}};
}

// The crop moved to the corner, then flipped and rotated.
Affine orientation_map(const RegionF& crop, Orientation o) {
  const Affine cut{{1, 0, -crop.x, 0, 1, -crop.y}};
  return then(then(cut, flip_of(o.flip, crop.width, crop.height)),
              turn_of(o.rotation, crop.width, crop.height));
}

}  // namespace

Placement::Placement(Size source, const RegionF& crop, Orientation orientation, Size destination,
                     const Region& content) noexcept
    : source_(source),
      destination_(destination),
      crop_(crop),
      content_(content),
      orientation_(orientation) {
  const bool swaps = swaps_axes(orientation.rotation);
  const double sx = content.width / (swaps ? crop.height : crop.width);
  const double sy = content.height / (swaps ? crop.width : crop.height);
  const Affine put{{sx, 0, static_cast<double>(content.x), 0, sy, static_cast<double>(content.y)}};
  forward_ = then(orientation_map(crop, orientation), put);
  inverse_ = inverse(forward_);
}

Placement::Placement(Size source, const RegionF& crop, const Affine& to_destination,
                     Size destination, const Region& content) noexcept
    : inverse_(inverse(to_destination)),
      forward_(to_destination),
      source_(source),
      destination_(destination),
      crop_(crop),
      content_(content),
      is_affine_(true) {}

Placement Placement::letterbox(Size source, Size destination, LetterboxRule rule) noexcept {
  if (source.width <= 0 || source.height <= 0 || destination.width <= 0 || destination.height <= 0)
    return {};
  Placement placement(source, Region{0, 0, source.width, source.height}, Orientation{}, destination,
                      letterbox_region(source, destination, rule));
  placement.set_nominal_scale(rule, destination);
  return placement;
}

void Placement::set_nominal_scale(LetterboxRule rule, Size place) noexcept {
  if (rule == LetterboxRule::hal) return;
  const bool swaps = swaps_axes(orientation_.rotation);
  double ratio = std::min(place.width / (swaps ? crop_.height : crop_.width),
                          place.height / (swaps ? crop_.width : crop_.height));
  if (rule == LetterboxRule::ultralytics_val) ratio = std::min(ratio, 1.0);
  set_nominal_scale(ratio);
}

void Placement::set_nominal_scale(double scale) noexcept {
  const Affine put{
      {scale, 0, static_cast<double>(content_.x), 0, scale, static_cast<double>(content_.y)}};
  forward_ = then(orientation_map(crop_, orientation_), put);
  inverse_ = inverse(forward_);
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

std::vector<Keypoint> Placement::to_source(std::vector<Keypoint> keypoints) const {
  for (Keypoint& keypoint : keypoints) {
    const Point at = to_source(keypoint.at);
    keypoint.at = {std::clamp(at.x, 0.0F, static_cast<float>(source_.width)),
                   std::clamp(at.y, 0.0F, static_cast<float>(source_.height))};
  }
  return keypoints;
}

}  // namespace halyard
