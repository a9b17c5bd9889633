// SPDX-License-Identifier: Apache-2.0
// Prepares boxes for comparison, and limits of overlap.
#include "decode/nms/overlap.h"

#include <cmath>

#include "base/elementary.h"
#include "decode/nms/search_radius.h"
#include "decode/nms/soft_queue.h"
#include "decode/nms/suppress.h"
#include "decode/tile/tile_merge_greedy.h"

namespace halyard::decode {

FlatBox flat_box(const Box& box, std::int32_t label) noexcept {
  // Vector minima treat NaN differently on each architecture, so no NaN may reach them.
  const bool is_finite = std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) &&
                         std::isfinite(box.y2);
  const float area = is_finite ? box.area() : 0;
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

}  // namespace halyard::decode

namespace halyard {
namespace {

template <Overlap overlap>
float measured(const Box& a, const Box& b) noexcept {
  const auto one = decode::flat_box(a, 0);
  const auto other = decode::flat_box(b, 0);
  return one.area > 0 && other.area > 0 ? decode::overlap_of<overlap>(one, other) : 0;
}

}  // namespace

float distance_iou(const Box& a, const Box& b) noexcept {
  return measured<Overlap::diou>(a, b);
}

float intersection_over_smaller(const Box& a, const Box& b) noexcept {
  return measured<Overlap::ios>(a, b);
}

}  // namespace halyard
