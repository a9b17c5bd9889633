// SPDX-License-Identifier: Apache-2.0
// Thresholds, order by score, best k and cap, around suppression.
#include "decode/nms/nms.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "decode/nms/suppress.h"
#include "decode/nms/suppress_rotated.h"
#include "halyard/trace.h"

namespace halyard::decode {
namespace {

// Sorts by the upper 32 bits, least significant digit first. Equal keys keep their order.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& spare) {
  constexpr std::size_t digit_bits = 11;
  constexpr std::size_t digits = 3;
  constexpr std::uint64_t mask = (1U << digit_bits) - 1;
  std::array<std::array<std::uint32_t, mask + 1>, digits> starts{};
  for (const std::uint64_t key : keys) {
    for (std::size_t d = 0; d < digits; ++d)
      ++starts[d][key >> (32 + d * digit_bits) & mask];
  }
  spare.resize(keys.size());
  for (std::size_t d = 0; d < digits; ++d) {
    const std::size_t shift = 32 + d * digit_bits;
    auto& start = starts[d];
    if (start[keys.front() >> shift & mask] == keys.size())
      continue;  // all keys have the same digit
    std::uint32_t sum = 0;
    for (std::uint32_t& count : start)
      sum += std::exchange(count, sum);
    for (const std::uint64_t key : keys)
      spare[start[key >> shift & mask]++] = key;
    keys.swap(spare);
  }
}

void sort_keys(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& spare) {
  constexpr std::size_t few = 1500;  // below, counting 2048 digits three times costs more
  if (keys.size() < few) {
    std::sort(keys.begin(), keys.end());
  } else {
    radix_sort(keys, spare);
  }
}

// Keeps the k smallest keys, in their present order.
void keep_smallest(std::vector<std::uint64_t>& keys, std::size_t k,
                   std::vector<std::uint64_t>& spare) {
  spare = keys;
  const auto last = spare.begin() + static_cast<std::ptrdiff_t>(k - 1);
  std::nth_element(spare.begin(), last, spare.end());
  std::erase_if(keys, [maximum = *last](std::uint64_t key) { return key > maximum; });
}

constexpr float min_area = 1e-30F;  // below, products lose bits that the index bounds rely on

void fill_boxes(std::span<const Detection> candidates, bool class_aware, Workspace& w) {
  w.boxes.resize(w.keys.size());
  w.may_use_index = true;
  for (std::size_t i = 0; i < w.keys.size(); ++i) {
    const Detection& d = candidates[index_of(w.keys[i])];
    const FlatBox box = flat_box(d.box, class_aware ? d.label : 0);
    w.boxes.set(i, box);
    if (box.area > 0 && box.area < min_area) w.may_use_index = false;
  }
}

void fill_gaussians(std::span<const Detection> candidates, std::span<const RotatedBox> boxes,
                    bool class_aware, Workspace& w) {
  w.gaussians.resize(w.keys.size());
  for (std::size_t i = 0; i < w.keys.size(); ++i) {
    const std::uint32_t index = index_of(w.keys[i]);
    w.gaussians[i] = gaussian_of(boxes[index], class_aware ? candidates[index].label : 0);
  }
}

void keep_all(std::size_t maximum, Workspace& w) {
  w.kept.resize(std::min(maximum, w.keys.size()));
  for (std::size_t i = 0; i < w.kept.size(); ++i)
    w.kept[i] = static_cast<std::uint32_t>(i);
}

}  // namespace

void BoxColumns::resize(std::size_t count) {
  for (auto* column : {&x1, &y1, &x2, &y2, &area})
    column->resize(count);
  label.resize(count);
}

void BoxColumns::set(std::size_t i, const FlatBox& box) noexcept {
  x1[i] = box.x1;
  y1[i] = box.y1;
  x2[i] = box.x2;
  y2[i] = box.y2;
  area[i] = box.area;
  label[i] = box.label;
}

std::uint64_t order_key(float score, std::size_t index) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(score + 0.0F);  // -0.0 becomes 0.0
  const std::uint32_t ascending = (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
  return (static_cast<std::uint64_t>(~ascending) << 32) | static_cast<std::uint32_t>(index);
}

void order(std::span<const Detection> candidates, const SelectionOptions& options, Workspace& w) {
  w.keys.clear();
  w.keys.reserve(candidates.size());
  const auto& thresholds = options.class_thresholds;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Detection& d = candidates[i];
    const auto label =
        static_cast<std::size_t>(d.label);  // negative labels become indices past the end
    const float minimum = label < thresholds.size() ? thresholds[label] : options.score_threshold;
    if (d.score >= minimum) w.keys.push_back(order_key(d.score, i));  // false for NaN
  }
  const bool cuts = options.nms != Nms::none && options.top_k != 0;
  if (cuts && options.top_k < w.keys.size()) keep_smallest(w.keys, options.top_k, w.spare);
  sort_keys(w.keys, w.spare);
}

void select(std::span<const Detection> candidates, std::span<const RotatedBox> boxes,
            const SelectionOptions& options, Workspace& w) {
  trace::Span span("decode.nms");
  span.arg("candidates", candidates.size());
  order(candidates, options, w);
  w.scores.resize(w.keys.size());
  for (std::size_t i = 0; i < w.keys.size(); ++i)
    w.scores[i] = candidates[index_of(w.keys[i])].score;
  const Rule rule{options.suppression,
                  options.overlap,
                  options.iou_threshold,
                  options.soft_sigma,
                  options.soft_floor,
                  options.max_detections != 0 ? options.max_detections
                                              : std::numeric_limits<std::size_t>::max()};
  const bool class_aware = options.nms == Nms::class_aware;
  if (options.nms == Nms::none) {
    keep_all(rule.maximum, w);
  } else if (boxes.empty()) {
    fill_boxes(candidates, class_aware, w);
    suppress(rule, w);
  } else {
    fill_gaussians(candidates, boxes, class_aware, w);
    suppress_rotated(rule, w);
  }
  w.kept_scores.resize(w.kept.size());
  for (std::size_t i = 0; i < w.kept.size(); ++i) {
    w.kept_scores[i] = w.scores[w.kept[i]];
    w.kept[i] = index_of(w.keys[w.kept[i]]);
  }
  span.arg("detections", w.kept.size());
}

}  // namespace halyard::decode
