// SPDX-License-Identifier: Apache-2.0
// Selection: chooses the detections among a network's candidates. Thresholds, order, best k,
// suppression of overlapping boxes, maximum: the same for every head, and for your own candidates.
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

/// Non-maximum suppression: between boxes of one class only, between all boxes, or none.
enum class Nms : std::uint8_t { class_agnostic = 0, class_aware = 1, none = 2 };

/// What an overlap does to the worse of two boxes.
/// - greedy: the box is removed if it overlaps a better one that was kept. As torchvision and
///   Ultralytics do for upright boxes.
/// - fast: the box is removed if it overlaps any better one, also one that was removed itself
///   (Bolya et al., YOLACT, 2019). As Ultralytics does for rotated boxes; for these an overlap of
///   exactly the threshold suppresses too.
/// - soft_linear, soft_gaussian: the score of the box is reduced (Bodla et al., Soft-NMS, 2017). It
///   is multiplied by 1 - overlap where overlap > iou_threshold, or by exp(-overlap^2 / soft_sigma)
///   at any overlap. The box with the best reduced score follows next. Boxes whose score falls
///   below soft_floor are removed.
enum class Suppression : std::uint8_t { greedy = 0, fast = 1, soft_linear = 2, soft_gaussian = 3 };

/// The measure of overlap of two upright boxes.
/// - iou: intersection over union, in [0, 1].
/// - diou: iou - d^2 / c^2, where d is the distance of the centres and c the diagonal of the
///   smallest box around both, in (-1, 1] (Zheng et al., Distance-IoU, 2020). Keeps neighbours
///   whose centres are apart.
/// - ios: intersection over the smaller area, in [0, 1]. Removes parts of an object with the whole.
/// Rotated boxes are always compared by probabilistic_iou().
enum class Overlap : std::uint8_t { iou = 0, diou = 1, ios = 2 };

/// The steps that candidates pass, in this order. Selector::create checks the ranges.
struct SelectionOptions {
  /// A candidate is kept when score >= this; not NaN. NaN scores are never kept.
  float score_threshold = -std::numeric_limits<float>::infinity();
  /// By class, instead of score_threshold; not NaN. Labels past its end use score_threshold.
  std::vector<float> class_thresholds = {};
  std::size_t top_k =
      0;  ///< best candidates that enter suppression; 0: all. Not applied with Nms::none
  Nms nms = Nms::class_aware;
  Suppression suppression = Suppression::greedy;
  Overlap overlap = Overlap::iou;
  float iou_threshold = 0.45F;  ///< [0, 1]; an overlap > this suppresses, in any measure
  float soft_sigma = 0.5F;      ///< > 0, finite; for soft_gaussian
  float soft_floor = 0.001F;    ///< [0, 1]; soft suppression removes boxes whose score falls below
  std::size_t max_detections = 0;  ///< maximum of survivors; 0: all
};

/// Selects, and keeps its memory: a call with no more candidates than the one before allocates
/// nothing. One thread at a time.
///
/// Order: best score first; of equal scores (-0 equals 0) the earlier candidate first. An overlap
/// of exactly the threshold does not suppress: products with the threshold are rounded up to ensure
/// this. Boxes that are empty, inverted or not finite, or whose area is not finite, overlap
/// nothing: they neither suppress nor are suppressed. The result has the same bits with every
/// vector instruction set.
///
/// Nms::class_aware compares labels. To shift each class by 7680 px, as Ultralytics does, gives the
/// same survivors except where rounding changes the shifted coordinates, and fails where boxes
/// reach further than that.
///
/// Time: for n candidates of which s survive, at most n s / lanes overlaps (lanes: floats in a
/// vector), so n times max_detections. Above a thousand survivors, a candidate is compared only
/// with nearby survivors of similar size. The threshold bounds their number, because survivors of a
/// class overlap little: the time grows with n. Without max_detections it is quadratic for soft
/// suppression, for ios and thresholds near 0 where sizes differ much, and for `fast` where many
/// removed boxes lie on one another. Measurements: docs/selection.md.
class Selector {
 public:
  /// Errors: invalid_argument; the message names the field and its range.
  static Result<Selector> create(SelectionOptions options);

  /// Indices of the survivors, best first; valid until the next call. Errors: invalid_argument
  /// (more than 2^32 - 2 candidates).
  Result<std::span<const std::uint32_t>> select(std::span<const Detection> candidates);

  /// As above for rotated boxes: boxes[i] replaces candidates[i].box. Errors: also invalid_argument
  /// (lengths differ).
  Result<std::span<const std::uint32_t>> select(std::span<const Detection> candidates,
                                                std::span<const RotatedBox> boxes);

  /// Scores of the survivors of the last call, after soft suppression.
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

/// One call of a Selector: returns the survivors with their final scores. Errors: as create() and
/// select().
Result<std::vector<Detection>> non_maximum_suppression(std::span<const Detection> candidates,
                                                       const SelectionOptions& options = {});

/// Overlap of two rotated boxes, each taken as a Gaussian with the box's covariance: 1 - the
/// Hellinger distance, in [0, 1] (Llerena et al., Probabilistic IoU, 2021). As Ultralytics'
/// batch_probiou, but without the 1e-7 that it adds in four places; these matter only for boxes of
/// less than a pixel. 0 where a box is empty or not finite. 1 for equal boxes.
float probabilistic_iou(const RotatedBox& a, const RotatedBox& b) noexcept;

/// iou - d^2 / c^2 as defined by Overlap::diou; 0 where a box is empty or not finite. iou() and
/// ios() of geometry.h are the other two measures.
float distance_iou(const Box& a, const Box& b) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
