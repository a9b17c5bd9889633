// SPDX-License-Identifier: Apache-2.0
// Selector: checks options once, then selects with its own memory.
#include "halyard/selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/local.h"
#include "base/text/format_error.h"
#include "decode/description/names.h"
#include "decode/nms/nms.h"
#include "decode/nms/selector.h"

namespace halyard {

struct HALYARD_LOCAL Selector::Impl {
  SelectionOptions options;
  decode::Workspace workspace;
};

namespace decode {
namespace {

const char* suppression_name(Suppression suppression) noexcept {
  constexpr const char* names[] = {"greedy", "fast", "soft_linear", "soft_gaussian"};
  return names[static_cast<std::size_t>(suppression)];
}

const char* overlap_name(Overlap overlap) noexcept {
  constexpr const char* names[] = {"IoU", "DIoU", "IoS"};
  return names[static_cast<std::size_t>(overlap)];
}

}  // namespace

Nms resolved_nms(std::optional<Nms> chosen, std::optional<Nms> described,
                 bool multi_label) noexcept {
  const Nms nms = chosen ? *chosen : described.value_or(Nms::class_aware);
  return multi_label && nms == Nms::class_agnostic ? Nms::class_aware : nms;
}

SelectionOptions selection_options(const DecodeOptions& options) {
  SelectionOptions out;
  out.score_threshold = options.score_threshold;
  out.class_thresholds = options.class_thresholds;
  out.top_k = options.pre_nms_top_k;
  out.nms = *options.nms;
  out.suppression = options.suppression;
  out.overlap = options.overlap;
  out.iou_threshold = options.iou_threshold;
  out.soft_sigma = options.soft_sigma;
  out.soft_floor = options.soft_floor;
  out.max_detections = options.max_detections;
  return out;
}

float min_score(const SelectionOptions& options) noexcept {
  const auto& thresholds = options.class_thresholds;
  return thresholds.empty() ? options.score_threshold
                            : *std::min_element(thresholds.begin(), thresholds.end());
}

std::string describe(const SelectionOptions& options) {
  const auto minimum = options.class_thresholds.empty() ? fmt::format("{}", options.score_threshold)
                                                        : std::string("their class's threshold");
  return fmt::format("nms: {}, {}, {} > {}; score >= {}; top {}; at most {}\n",
                     name_of(options.nms), suppression_name(options.suppression),
                     overlap_name(options.overlap), options.iou_threshold, minimum, options.top_k,
                     options.max_detections);
}

std::vector<Detection> survivors(std::span<const Detection> candidates, const Workspace& w) {
  std::vector<Detection> out;
  out.reserve(w.kept.size());
  for (std::size_t i = 0; i < w.kept.size(); ++i) {
    out.push_back(candidates[w.kept[i]]);
    out.back().score = w.kept_scores[i];
  }
  return out;
}

Status check(const SelectionOptions& options) {
  if (std::isnan(options.score_threshold))
    return fail(Errc::invalid_argument, "score_threshold: must be a number");
  for (std::size_t i = 0; i < options.class_thresholds.size(); ++i) {
    if (std::isnan(options.class_thresholds[i])) {
      return fail(Errc::invalid_argument, "class_thresholds: must be numbers", "of class {}", i);
    }
  }
  if (options.nms > Nms::none)
    return fail(Errc::invalid_argument, "nms: must be a value of Nms", "{}",
                static_cast<int>(options.nms));
  if (options.suppression > Suppression::soft_gaussian) {
    return fail(Errc::invalid_argument, "suppression: must be a value of Suppression", "{}",
                static_cast<int>(options.suppression));
  }
  if (options.overlap > Overlap::ios) {
    return fail(Errc::invalid_argument, "overlap: must be a value of Overlap", "{}",
                static_cast<int>(options.overlap));
  }
  HALYARD_RETURN_IF_ERROR(check_unit(options.iou_threshold, "iou_threshold: must be in [0, 1]"));
  HALYARD_RETURN_IF_ERROR(check_unit(options.soft_floor, "soft_floor: must be in [0, 1]"));
  if (!(options.soft_sigma > 0) || !std::isfinite(options.soft_sigma)) {
    return fail(Errc::invalid_argument, "soft_sigma: must be above 0 and finite", "{}",
                options.soft_sigma);
  }
  return {};
}

Status check_unit(float value, const char* what) {
  if (value >= 0 && value <= 1) return {};  // false for NaN
  return fail(Errc::invalid_argument, what, "{}", value);
}

}  // namespace decode

namespace {

Status check_count(std::size_t count) {
  constexpr std::size_t maximum = std::numeric_limits<std::uint32_t>::max() - 1;
  if (count <= maximum) return {};
  return fail(Errc::invalid_argument, "candidates: must be at most 4294967294", "{}", count);
}

}  // namespace

Selector::Selector(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Selector::Selector(Selector&&) noexcept = default;
Selector& Selector::operator=(Selector&&) noexcept = default;
Selector::~Selector() = default;

Result<Selector> Selector::create(SelectionOptions options) {
  HALYARD_RETURN_IF_ERROR(decode::check(options));
  return Selector(std::make_unique<Impl>(Impl{std::move(options), {}}));
}

Result<std::span<const std::uint32_t>> Selector::select(std::span<const Detection> candidates) {
  HALYARD_RETURN_IF_ERROR(check_count(candidates.size()));
  decode::select(candidates, {}, impl_->options, impl_->workspace);
  return std::span<const std::uint32_t>(impl_->workspace.kept);
}

Result<std::span<const std::uint32_t>> Selector::select(std::span<const Detection> candidates,
                                                        std::span<const RotatedBox> boxes) {
  HALYARD_RETURN_IF_ERROR(check_count(candidates.size()));
  if (boxes.size() != candidates.size()) {
    return fail(Errc::invalid_argument, "boxes: must be one per candidate",
                "{} boxes, {} candidates", boxes.size(), candidates.size());
  }
  decode::select(candidates, boxes, impl_->options, impl_->workspace);
  return std::span<const std::uint32_t>(impl_->workspace.kept);
}

std::span<const float> Selector::scores() const noexcept {
  return impl_->workspace.kept_scores;
}

const SelectionOptions& Selector::options() const noexcept {
  return impl_->options;
}

Result<std::vector<Detection>> non_maximum_suppression(std::span<const Detection> candidates,
                                                       const SelectionOptions& options) {
  HALYARD_TRY(Selector selector, Selector::create(options));
  HALYARD_TRY(const auto kept, selector.select(candidates));
  return decode::survivors(candidates, selector.impl_->workspace);
}

}  // namespace halyard
