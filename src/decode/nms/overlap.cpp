// SPDX-License-Identifier: Apache-2.0
// Prepares boxes for comparison, and limits of overlap.
#include "decode/nms/overlap.h"

#include <cmath>

namespace halyard::decode {

FlatBox flat_box(const Box& box, std::int32_t label) noexcept {
  // Vector minima treat NaN differently on each architecture, so no NaN may reach them.
  const float area = is_finite(box) ? box.area() : 0;
  if (!(area > 0) || !std::isfinite(area)) return {0, 0, 0, 0, 0, label};
  return {box.x1, box.y1, box.x2, box.y2, area, label};
}

float overlap_factor(float iou_threshold) noexcept {
  if (iou_threshold <= 0) return 0;
  const double t = iou_threshold;
  return std::nextafter(static_cast<float>(t / (1 + t)), 1.0F);
}

float overlap_limit(Overlap overlap, float threshold) noexcept {
  if (overlap == Overlap::iou) return overlap_factor(threshold);
  // The product with an area is rounded and must not fall below an exact intersection.
  if (overlap == Overlap::ios && threshold > 0) return std::nextafter(threshold, 2.0F);
  return threshold;
}

Place place_of(const FlatBox& box) noexcept {
  const double x1 = box.x1, y1 = box.y1, x2 = box.x2, y2 = box.y2;
  return {(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, box.label};
}

SearchRadius search_radius(Overlap overlap, float threshold) noexcept {
  if (overlap == Overlap::ios) return {0, 1};
  const double t = threshold;  // a DIoU above t implies an IoU above t
  return {t, (1 - t) / (1 + t)};
}

}  // namespace halyard::decode

namespace halyard {

float distance_iou(const Box& a, const Box& b) noexcept {
  const auto first = decode::flat_box(a, 0);
  const auto second = decode::flat_box(b, 0);
  if (first.area == 0 || second.area == 0) return 0;
  return decode::overlap_of<Overlap::diou>(first, second);
}

}  // namespace halyard
