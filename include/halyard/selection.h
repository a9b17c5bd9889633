// SPDX-License-Identifier: Apache-2.0
// Selection: from the candidates of a network to the detections given. Thresholds, order, best k,
// suppression of what overlaps, cap: the same for every head, and for candidates of your own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Non-maximum suppression: between boxes of one class only, between all, or not at all.
enum class Nms : std::uint8_t { class_agnostic = 0, class_aware = 1, none = 2 };

/// What an overlap does to the worse of two boxes.
/// - greedy: it goes when a better one that stayed overlaps it. What torchvision and Ultralytics do
///   for upright boxes.
/// - fast: it goes when any better one overlaps it, also one that went itself (Bolya et al.,
///   YOLACT, 2019). What Ultralytics does for turned boxes; there an overlap of exactly the
///   threshold suppresses too.
/// - soft_linear, soft_gaussian: it loses score (Bodla et al., Soft-NMS, 2017): times 1 - overlap
///   where that is > iou_threshold, or times exp(-overlap^2 / soft_sigma) at any overlap. The next
///   best by what scores have become follows; below soft_floor a box goes.
enum class Suppression : std::uint8_t { greedy = 0, fast = 1, soft_linear = 2, soft_gaussian = 3 };

/// How far two upright boxes overlap.
/// - iou: intersection over union, in [0, 1].
/// - diou: iou - d^2 / c^2 with d the distance of the centres and c the diagonal of the smallest
///   box around both, in (-1, 1] (Zheng et al., Distance-IoU, 2020). Neighbours that stand apart
///   stay.
/// - ios: intersection over the smaller area, in [0, 1]: parts of an object go with the whole.
/// Turned boxes are always compared by probabilistic_iou().
enum class Overlap : std::uint8_t { iou = 0, diou = 1, ios = 2 };

/// What happens to candidates, in this order. Ranges are checked by Selector::create.
struct SelectionOptions {
  /// A candidate stays when score >= this; not NaN. NaN scores never stay.
  float score_threshold = -std::numeric_limits<float>::infinity();
  /// By class, in place of score_threshold; not NaN. Labels past its end have score_threshold.
  std::vector<float> class_thresholds = {};
  std::size_t top_k =
      0;  ///< best candidates that enter suppression; 0: all. Nms::none: not applied
  Nms nms = Nms::class_aware;
  Suppression suppression = Suppression::greedy;
  Overlap overlap = Overlap::iou;
  float iou_threshold = 0.45F;     ///< [0, 1]; an overlap > this suppresses, whatever its measure
  float soft_sigma = 0.5F;         ///< > 0, finite; of soft_gaussian
  float soft_floor = 0.001F;       ///< [0, 1]; of the soft ones: a box whose score falls below goes
  std::size_t max_detections = 0;  ///< most survivors; 0: all
};

/// Selects, and keeps its memory: a call with no more candidates than the one before allocates
/// nothing. One thread at a time.
///
/// Order: score, best first; of equal scores (-0 equals 0) the earlier candidate. An overlap of
/// exactly the threshold does not suppress (a rounding of the threshold's products upwards sees to
/// that). Boxes that are empty, inverted or not finite, or whose area is not, overlap nothing: they
/// neither suppress nor are suppressed. The same bits with every set of vector instructions.
///
/// Class-aware compares labels. Moving each class aside by 7680 px (Ultralytics) gives the same
/// survivors but for what rounding does to the moved coordinates, and fails where boxes reach
/// further than that.
///
/// Time: with n candidates of which s survive, at most n s / lanes overlaps (lanes: floats in a
/// vector), so n times max_detections. Above a thousand survivors candidates look only at survivors
/// of like size nearby, whose number the threshold bounds, as survivors of a class overlap little:
/// time grows with n. Quadratic without max_detections: soft suppression, ios and thresholds near 0
/// where sizes differ much, `fast` where many that went lie on one another. Figures:
/// docs/selection.md.
class Selector {
 public:
  /// Errors: invalid_argument; the message names the field and its range.
  static Result<Selector> create(SelectionOptions options);

  /// Indices of the survivors, best first; valid until the next call. Errors: invalid_argument
  /// (more than 2^32 - 2 candidates).
  Result<std::span<const std::uint32_t>> select(std::span<const Detection> candidates);

  /// The same for turned boxes: boxes[i] takes the place of candidates[i].box. Errors also
  /// invalid_argument (lengths differ).
  Result<std::span<const std::uint32_t>> select(std::span<const Detection> candidates,
                                                std::span<const RotatedBox> boxes);

  /// Scores of the survivors of the last call: the candidates', less what soft suppression took.
  std::span<const float> scores() const noexcept;

  const SelectionOptions& options() const noexcept;

  Selector(Selector&&) noexcept;
  Selector& operator=(Selector&&) noexcept;
  ~Selector();

 private:
  friend Result<std::vector<Detection>> non_maximum_suppression(std::span<const Detection>,
                                                                const SelectionOptions&);
  struct Impl;
  explicit Selector(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// One call of a Selector: the survivors themselves, with the scores that they have in the end.
/// Errors as create() and select().
Result<std::vector<Detection>> non_maximum_suppression(std::span<const Detection> candidates,
                                                       const SelectionOptions& options = {});

/// Overlap of two turned boxes, each taken as a Gaussian of its covariance: 1 - the Hellinger
/// distance, in [0, 1] (Llerena et al., Probabilistic IoU, 2021). Ultralytics' batch_probiou
/// without the 1e-7 that it adds in four places, which tell for boxes of less than a pixel. 0 where
/// a box is empty or not finite. 1 for equal boxes.
float probabilistic_iou(const RotatedBox& a, const RotatedBox& b) noexcept;

/// iou - d^2 / c^2 as Overlap::diou and intersection / smaller area as Overlap::ios define them; 0
/// where a box is empty or not finite.
float distance_iou(const Box& a, const Box& b) noexcept;
float intersection_over_smaller(const Box& a, const Box& b) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
