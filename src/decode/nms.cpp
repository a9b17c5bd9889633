// SPDX-License-Identifier: Apache-2.0
// Order, best k, cap, and the plain form of suppression; the vectors are in suppress.cpp.
#include "decode/nms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "halyard/trace.h"

namespace halyard::decode {
namespace {

// Ascending keys are descending scores, then ascending indices.
std::uint64_t order_key(float score, std::size_t index) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0.0 becomes 0.0
  const std::uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return (static_cast<std::uint64_t>(~ascending) << 32) | static_cast<std::uint32_t>(index);
}

std::vector<std::uint64_t> ordered_keys(std::span<const Detection> candidates, std::size_t top_k) {
  std::vector<std::uint64_t> keys;
  keys.reserve(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!std::isnan(candidates[i].score)) keys.push_back(order_key(candidates[i].score, i));
  }
  if (top_k != 0 && top_k < keys.size()) {
    std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(top_k), keys.end());
    keys.resize(top_k);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

BoxColumns columns_of(std::span<const Detection> candidates, std::span<const std::uint64_t> keys,
                      bool class_aware) {
  BoxColumns boxes;
  for (auto* column : {&boxes.x1, &boxes.y1, &boxes.x2, &boxes.y2, &boxes.area})
    column->reserve(keys.size());
  boxes.label.reserve(keys.size());
  for (const std::uint64_t key : keys) {
    const Detection& d = candidates[static_cast<std::uint32_t>(key)];
    // Vector minima treat NaN differently on each architecture: such a box overlaps nothing.
    const bool has_nan = std::isnan(d.box.x1) || std::isnan(d.box.y1) || std::isnan(d.box.x2) ||
                         std::isnan(d.box.y2);
    const Box box = has_nan ? Box{} : d.box;
    boxes.x1.push_back(box.x1);
    boxes.y1.push_back(box.y1);
    boxes.x2.push_back(box.x2);
    boxes.y2.push_back(box.y2);
    boxes.area.push_back(box.area());
    boxes.label.push_back(class_aware ? d.label : 0);
  }
  return boxes;
}

}  // namespace

float overlap_factor(float iou_threshold) noexcept {
  if (iou_threshold <= 0) return 0;
  const double t = iou_threshold;
  return std::nextafter(static_cast<float>(t / (1 + t)), 1.0F);
}

std::vector<std::uint32_t> suppress_plain(const BoxColumns& b, float iou_threshold,
                                          std::size_t most) {
  const float factor = overlap_factor(iou_threshold);
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < b.size() && kept.size() < most; ++i) {
    const bool suppressed = std::any_of(kept.begin(), kept.end(), [&](std::uint32_t k) {
      const float width = std::min(b.x2[k], b.x2[i]) - std::max(b.x1[k], b.x1[i]);
      const float height = std::min(b.y2[k], b.y2[i]) - std::max(b.y1[k], b.y1[i]);
      const float shared = std::max(width, 0.0F) * std::max(height, 0.0F);
      return b.label[k] == b.label[i] && shared > factor * (b.area[k] + b.area[i]);
    });
    if (!suppressed) kept.push_back(static_cast<std::uint32_t>(i));
  }
  return kept;
}

std::vector<Detection> select(std::span<const Detection> candidates, const Selection& selection) {
  trace::Span span("decode.nms");
  span.arg("candidates", candidates.size());
  const bool suppresses = selection.nms != Nms::none;
  const auto keys = ordered_keys(candidates, suppresses ? selection.top_k : 0);
  const std::size_t most = selection.max_detections != 0 ? selection.max_detections
                                                         : std::numeric_limits<std::size_t>::max();
  std::vector<Detection> out;
  if (!suppresses) {
    out.reserve(std::min(most, keys.size()));
    for (std::size_t i = 0; i < keys.size() && i < most; ++i)
      out.push_back(candidates[static_cast<std::uint32_t>(keys[i])]);
  } else {
    const auto boxes = columns_of(candidates, keys, selection.nms == Nms::class_aware);
    for (const std::uint32_t kept : suppress(boxes, selection.iou_threshold, most))
      out.push_back(candidates[static_cast<std::uint32_t>(keys[kept])]);
  }
  span.arg("detections", out.size());
  return out;
}

}  // namespace halyard::decode

namespace halyard {

std::vector<Detection> non_maximum_suppression(std::vector<Detection> candidates,
                                               float iou_threshold, Nms nms,
                                               std::size_t max_detections) {
  return decode::select(candidates, {0, iou_threshold, nms, max_detections});
}

}  // namespace halyard
