// SPDX-License-Identifier: Apache-2.0
// The greedy merge: sorts, groups by label and unites boxes.
#include "decode/tile/tile_merge_greedy.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "base/box_math.h"
#include "base/text/format_error.h"
#include "halyard/trace.h"

namespace halyard::decode {
namespace {

// Maps floats to integers of the same order. NaN is not allowed.
std::uint32_t ascending(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}

std::uint64_t merge_rank(const Detection& d) noexcept {
  const auto area = static_cast<float>(area_in<double>(d.box));
  return static_cast<std::uint64_t>(~ascending(d.score)) << 32 | ~ascending(area);
}

// Maps labels to group numbers; negative labels come first.
std::uint32_t group_of(const Detection& d) noexcept {
  return static_cast<std::uint32_t>(d.label) ^ 0x80000000U;
}

auto content_key(const Detection& d) noexcept {
  return std::tie(d.box.x1, d.box.y1, d.box.x2, d.box.y2, d.label, d.anchor);
}

Box around(const Box& a, const Box& b) noexcept {
  return {std::min(a.x1, b.x1), std::min(a.y1, b.y1), std::max(a.x2, b.x2), std::max(a.y2, b.y2)};
}

bool is_share(float value) noexcept {
  return value >= 0 && value <= 1;
}

}  // namespace

Status check_merge_options(const MergeOptions& options) {
  if (options.metric > MergeMetric::iou)
    return fail(Errc::invalid_argument, "metric: must be ios or iou", "{}",
                static_cast<int>(options.metric));
  if (options.strategy > MergeStrategy::grow)
    return fail(Errc::invalid_argument, "strategy: must be keep_best, merge_union or grow", "{}",
                static_cast<int>(options.strategy));
  if (!is_share(options.threshold))
    return fail(Errc::invalid_argument, "threshold: must be in [0, 1]", "{}", options.threshold);
  if (!is_share(options.score_threshold))
    return fail(Errc::invalid_argument, "score_threshold: must be in [0, 1]", "{}",
                options.score_threshold);
  return {};
}

bool admit(Detection& d, const MergeOptions& options) noexcept {
  if (std::isnan(d.score) || !is_finite(d.box)) return false;
  if (options.score_threshold > 0 && d.score < options.score_threshold) return false;
  d.score += 0.0F;  // -0 becomes 0
  const auto [left, right] = std::minmax({d.box.x1 + 0.0F, d.box.x2 + 0.0F});
  const auto [top, bottom] = std::minmax({d.box.y1 + 0.0F, d.box.y2 + 0.0F});
  d.box = {left, top, right, bottom};
  return true;
}

float measure(MergeMetric metric, const Box& a, double area_a, const Box& b,
              double area_b) noexcept {
  const OverlapAreas<double> areas{shared_area<double>(a, b), area_a, area_b};
  return static_cast<float>(metric == MergeMetric::ios ? areas.ios() : areas.iou());
}

// A total order, except for equal detections with the same origin.
struct Merger::Order {
  std::span<const Detection> detections;
  std::span<const TileOrigin> origins;

  bool operator()(const Key& a, const Key& b) const noexcept {
    if (a.group != b.group) return a.group < b.group;
    return before(a.rank, a.place, b.rank, b.place);
  }
  bool operator()(const Kept& a, const Kept& b) const noexcept {
    return before(a.rank, a.place, b.rank, b.place);
  }

 private:
  bool before(std::uint64_t rank_a, std::uint32_t a, std::uint64_t rank_b,
              std::uint32_t b) const noexcept {
    if (rank_a != rank_b) return rank_a < rank_b;
    const auto content_a = content_key(detections[a]);
    const auto content_b = content_key(detections[b]);
    if (content_a != content_b) return content_a < content_b;
    if (origins.empty()) return a < b;
    return std::tie(origins[a].tile, origins[a].detection) <
           std::tie(origins[b].tile, origins[b].detection);
  }
};

void Merger::merge_group(std::span<const Key> group, std::span<const Detection> detections,
                         const MergeOptions& options) {
  boxes_.clear();
  areas_.clear();
  for (const Key& key : group) {
    boxes_.push_back(detections[key.place].box);
    areas_.push_back(area_in<double>(boxes_.back()));
  }
  stays_.resize(group.size());
  index_.reset(boxes_);
  const bool keeps_best = options.strategy == MergeStrategy::keep_best;
  const std::size_t begin = kept_.size();
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const auto matches = [&](const Box& box, double area) {
      const float value = measure(options.metric, box, area, boxes_[i], areas_[i]);
      return value > 0 && value >= options.threshold;
    };
    const std::uint32_t best = index_.find(
        boxes_[i], keeps_best, [&](std::uint32_t k) { return matches(boxes_[k], areas_[k]); });
    if (best != BoxIndex::none) {
      Box& box = kept_[stays_[best]].box;
      if (options.strategy == MergeStrategy::merge_union ||
          (options.strategy == MergeStrategy::grow && matches(box, area_in<double>(box)))) {
        box = around(box, boxes_[i]);
        parts_.push_back({stays_[best], static_cast<std::uint32_t>(parts_.size()), group[i].place});
      }
    } else if (options.max_detections == 0 || kept_.size() - begin < options.max_detections) {
      index_.insert(i, boxes_[i]);
      stays_[i] = static_cast<std::uint32_t>(kept_.size());
      kept_.push_back({group[i].rank, boxes_[i], group[i].place, stays_[i]});
    } else if (keeps_best) {
      return;  // no further box can be kept, and none changes a kept one
    }
  }
}

std::span<const Merger::Kept> Merger::merge(std::span<const Detection> detections,
                                            std::span<const TileOrigin> origins,
                                            const MergeOptions& options) {
  keys_.clear();
  kept_.clear();
  parts_.clear();
  for (std::size_t i = 0; i < detections.size(); ++i) {
    const std::uint32_t group = options.class_agnostic ? 0 : group_of(detections[i]);
    keys_.push_back({merge_rank(detections[i]), group, static_cast<std::uint32_t>(i)});
  }
  const Order order{detections, origins};
  std::sort(keys_.begin(), keys_.end(), order);
  for (auto first = keys_.begin(); first != keys_.end();) {
    const auto last =
        std::find_if(first, keys_.end(), [&](const Key& key) { return key.group != first->group; });
    merge_group({first, last}, detections, options);
    first = last;
  }
  std::sort(kept_.begin(), kept_.end(), order);
  std::sort(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) {
    return std::tie(a.stay, a.order) < std::tie(b.stay, b.order);
  });
  if (options.max_detections != 0 && options.max_detections < kept_.size())
    kept_.resize(options.max_detections);
  return kept_;
}

std::span<const Merger::Part> Merger::parts_of(const Kept& kept) const noexcept {
  const auto begin = std::partition_point(parts_.begin(), parts_.end(),
                                          [&](const Part& part) { return part.stay < kept.stay; });
  const auto end = std::partition_point(begin, parts_.end(),
                                        [&](const Part& part) { return part.stay == kept.stay; });
  return {begin, end};
}

Result<std::vector<Detection>> merge_checked(std::span<const Detection> detections,
                                             const MergeOptions& options) {
  if (detections.size() > max_detections)
    return fail(Errc::invalid_argument, "detections: must be at most 2^24", "{}",
                detections.size());
  trace::Span span("decode.merge_detections");
  span.arg("detections", detections.size());
  std::vector<Detection> admitted;
  admitted.reserve(detections.size());
  for (Detection d : detections)
    if (admit(d, options)) admitted.push_back(d);
  Merger merger;
  std::vector<Detection> out;
  for (const auto& kept : merger.merge(admitted, {}, options)) {
    out.push_back(admitted[kept.place]);
    out.back().box = kept.box;
  }
  return out;
}

}  // namespace halyard::decode
