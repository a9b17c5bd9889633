// SPDX-License-Identifier: Apache-2.0
// Overlap of two upright boxes, one pair at a time. The vector code in suppress.cpp does the same
// operations in the same order, so the results have the same bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/box_math.h"
#include "decode/nms/spatial_index.h"
#include "halyard/selection.h"

namespace halyard::decode {

/// A box prepared for comparison. Area 0: it overlaps nothing.
struct FlatBox {
  float x1 = 0;
  float y1 = 0;
  float x2 = 0;
  float y2 = 0;
  float area = 0;
  std::int32_t label = 0;
};

/// A box that is empty, inverted or not finite, or whose area is not finite, becomes empty.
FlatBox flat_box(const Box& box, std::int32_t label) noexcept;

/// IoU > t means shared > t * (a + b - shared), which means shared > t / (1 + t) * (a + b). In this
/// form no product is an operand of a sum, so fused arithmetic cannot change the result. The factor
/// is one step above the rounded value, so that an IoU of exactly the threshold never suppresses.
float overlap_factor(float iou_threshold) noexcept;

/// The limit for exceeds(), from the threshold.
float overlap_limit(Overlap overlap, float threshold) noexcept;

/// Squared distance of the centres, divided by the squared diagonal of the box around both.
inline float centre_penalty(const FlatBox& a, const FlatBox& b) noexcept {
  const float dx = ((a.x1 + a.x2) - (b.x1 + b.x2)) * 0.5F;
  const float dy = ((a.y1 + a.y2) - (b.y1 + b.y2)) * 0.5F;
  const float width = std::max(a.x2, b.x2) - std::min(a.x1, b.x1);
  const float height = std::max(a.y2, b.y2) - std::min(a.y1, b.y1);
  return (dx * dx + dy * dy) / (width * width + height * height);
}

/// The overlap of two boxes. Both areas must be above 0.
template <Overlap overlap>
float overlap_of(const FlatBox& a, const FlatBox& b) noexcept {
  const OverlapAreas<float> areas{shared_area<float>(a, b), a.area, b.area};
  if constexpr (overlap == Overlap::ios) return areas.shared / areas.smaller();
  const float iou = areas.shared / areas.united();
  return overlap == Overlap::iou ? iou : iou - centre_penalty(a, b);
}

/// Whether the overlap is above the threshold from which `limit` was made. False for empty boxes.
template <Overlap overlap>
bool exceeds(const FlatBox& a, const FlatBox& b, float limit) noexcept {
  const float shared = shared_area<float>(a, b);
  if constexpr (overlap == Overlap::iou) return shared > limit * (a.area + b.area);
  if constexpr (overlap == Overlap::ios) return shared > limit * std::min(a.area, b.area);
  return shared > 0 && overlap_of<overlap>(a, b) > limit;
}

/// exceeds() for boxes with the same label.
template <Overlap overlap>
bool suppresses(const FlatBox& a, const FlatBox& b, float limit) noexcept {
  return a.label == b.label && exceeds<overlap>(a, b, limit);
}

/// What the spatial index knows of a box.
Place place_of(const FlatBox& box) noexcept;

/// How far from a box another one can lie whose overlap is above the threshold.
SearchRadius search_radius(Overlap overlap, float threshold) noexcept;

/// Calls use(std::integral_constant<Overlap, o>) with o = `overlap`.
template <class Use>
decltype(auto) with_overlap(Overlap overlap, Use use) {
  switch (overlap) {
    case Overlap::diou:
      return use(std::integral_constant<Overlap, Overlap::diou>());
    case Overlap::ios:
      return use(std::integral_constant<Overlap, Overlap::ios>());
    default:
      return use(std::integral_constant<Overlap, Overlap::iou>());
  }
}

}  // namespace halyard::decode
