// SPDX-License-Identifier: Apache-2.0
// What follows every head: order by score, best k, suppression, cap. Knows no head and no tensor.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "halyard/decode.h"

namespace halyard::decode {

/// Checked options of one selection.
struct Selection {
  std::size_t top_k = 0;  ///< that enter suppression; 0: all
  float iou_threshold = 0;
  Nms nms = Nms::class_aware;
  std::size_t max_detections = 0;  ///< 0: all
};

/// Survivors, best first; of equal scores the earlier candidate goes first. NaN scores are dropped.
/// With Nms::none top_k does not apply.
std::vector<Detection> select(std::span<const Detection> candidates, const Selection& selection);

/// Boxes in the order in which they may suppress one another, as columns.
struct BoxColumns {
  std::vector<float> x1, y1, x2, y2, area;
  std::vector<std::int32_t> label;  ///< all equal: class-agnostic
  std::size_t size() const noexcept { return x1.size(); }
};

/// Indices of the boxes that no earlier survivor overlaps by more than the threshold, ascending, at
/// most `most` of them (> 0).
std::vector<std::uint32_t> suppress(const BoxColumns& boxes, float iou_threshold, std::size_t most);

/// The same without vectors: the definition that the other is tested against, bit for bit.
std::vector<std::uint32_t> suppress_plain(const BoxColumns& boxes, float iou_threshold,
                                          std::size_t most);

/// IoU > t is shared > t * (a + b - shared), which is shared > t / (1 + t) * (a + b). Written so,
/// no product feeds a sum, and fused arithmetic cannot change the answer. One step above the
/// rounded factor, so that an IoU of exactly the threshold never suppresses.
float overlap_factor(float iou_threshold) noexcept;

}  // namespace halyard::decode
