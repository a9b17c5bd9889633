// SPDX-License-Identifier: Apache-2.0
// Decode: from a network's output tensors to detections in the network's input pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/description.h"
#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/mask.h"
#include "halyard/result.h"
#include "halyard/selection.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The same for every head. Ranges are checked by Decoder::create. What the fields of selection
/// mean stands in selection.h.
struct DecodeOptions {
  float score_threshold = 0.25F;  ///< [0, 1]; a candidate stays when score >= threshold
  float iou_threshold = 0.45F;    ///< [0, 1]; a box is suppressed when its overlap is > threshold
  /// unset: the description's, and class_aware where it has none (or "auto")
  std::optional<Nms> nms = {};
  std::size_t pre_nms_top_k = 30000;  ///< best candidates that enter suppression; 0: all. Of equal
                                      ///< scores the earlier anchors. Nms::none: does not apply
  std::size_t max_detections = 300;   ///< most detections given; 0: all
  /// Empty, or one for each class, each in [0, 1], in place of score_threshold. An anchor is first
  /// given its best class, then held against that one's threshold.
  std::vector<float> class_thresholds = {};
  Suppression suppression = Suppression::greedy;
  Overlap overlap = Overlap::iou;
  float soft_sigma = 0.5F;    ///< > 0; of Suppression::soft_gaussian
  float soft_floor = 0.001F;  ///< [0, 1]; of the soft ones: below, a box goes
  /// Every class of an anchor that reaches its threshold is a candidate, not the best one alone.
  /// Nms::class_agnostic becomes class_aware: one class would take the others of its own box.
  bool multi_label = false;
  std::size_t top_classes = 5;  ///< of heads that classify: most classes given; 0: all

  /// What Ultralytics predicts with: score > 0.25, IoU > 0.7 within a class, 300 at most. A score
  /// of exactly the threshold does not pass there: score_threshold is the next float.
  static DecodeOptions ultralytics();
  /// What it validates with: as above, score > 0.001, and every class of an anchor.
  static DecodeOptions ultralytics_val();
  /// EdgeFirst HAL's defaults: score >= 0.5, IoU > 0.5, class_agnostic, the best 300 enter. Unset
  /// `nms` for the description's.
  static DecodeOptions hal();
};

/// A class of the whole image.
struct ClassScore {
  std::int32_t label = 0;  ///< class index, from 0
  float score = 0;         ///< activated where the description asks for it
  friend bool operator==(const ClassScore&, const ClassScore&) = default;
};

/// What one decode gives. A value to reuse: its vectors keep their memory. What the head does not
/// give is empty.
struct Decoded {
  std::vector<Detection> detections;  ///< best first, boxes in pixels of the network's input
  std::vector<RotatedBox> rotated;    ///< of heads with angles: one for every detection, whose own
                                      ///< box is bounds() of it
  std::vector<Keypoint> keypoints;    ///< keypoints_each for every detection, in its order
  std::size_t keypoints_each = 0;     ///< 0: the head gives none
  /// Row i belongs to detection i; `prototypes` shares the output's memory: materialize() before
  /// the network runs again. Coefficients that are not finite make a row of zeros: an empty mask.
  MaskPrototypes masks;
  std::vector<ClassScore>
      classes;  ///< of heads that classify: best first; of equal scores the
                ///< earlier class. score_threshold does not apply, NaN is left out
};

/// Decodes one model's outputs. Immutable after creation and thread-safe: decode() may run from
/// several threads at once.
///
/// Heads: docs/decode.md has the table. f32, f16, bf16, i8, u8, i16, u16 in any mix and with any
/// strides; integers with one scale, or one for each feature. Of equal best classes the first wins,
/// of logits under a sigmoid or tanh by the logit; of equal scores the earlier anchor goes first;
/// NaN scores never pass, nor do boxes that are not finite or have a negative extent. Boxes are not
/// clipped to the image. Scores are taken for probabilities: with objectness, a box whose
/// objectness is below the threshold does not pass.
///
/// Oriented boxes: cx, cy, w, h and an angle, compared by probabilistic_iou(). Ultralytics
/// suppresses them with Suppression::fast. In levels the angle is a logit, (sigmoid - 1/4) pi, and
/// the centre is turned with the box, as its head does.
///
/// Without names the feature axis is the one of extent 4 + labels; where labels do not tell, the
/// shorter one of at least 5. Equal extents, an extent of 4 (boxes without scores) and [1, n] need
/// names; [batch, n <= 300, 6] is taken for rows of boxes that the network has suppressed, unless
/// labels or a version tell.
class Decoder {
 public:
  /// Errors: invalid_argument (thresholds, shapes), unsupported (no head fits; the message lists
  /// the shapes seen and the layouts known).
  static Result<Decoder> create(ModelDescription description, DecodeOptions options = {});

  /// Chooses the head from the shapes alone. Box units where `box_units` is unset: pixels for float
  /// tensors; for quantized ones fraction when the largest value that they can store is below 4,
  /// else pixels. Errors as create().
  static Result<Decoder> for_outputs(std::span<const TensorSpec> outputs, Size input,
                                     DecodeOptions options = {},
                                     std::optional<BoxUnits> box_units = std::nullopt);

  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// Detections of batch element `batch`, best first, boxes in pixels of the network's input; none
  /// of heads that only classify.
  /// A tensor's own quantization wins over the description's. The batch extent may differ from the
  /// description's. Errors: invalid_argument (count or shape of the tensors differs from the
  /// description, batch out of range, integer tensor without quantization, boxes in fractions and
  /// no input size), unsupported (dtype, quantization per channel of another axis than the
  /// features'), those of mapping.
  Result<std::vector<Detection>> decode(std::span<const Tensor> outputs,
                                        std::size_t batch = 0) const;

  /// The same and all else that the head gives, into memory to reuse: it allocates nothing once
  /// `out` and the decoder have seen frames as full (but for integer prototypes whose quantization
  /// is the description's, which is copied). `out` holds nothing of use after an error.
  Status decode_into(std::span<const Tensor> outputs, Decoded& out, std::size_t batch = 0) const;

  const ModelDescription& description() const noexcept;
  /// As created, with `nms` set to what is in force.
  const DecodeOptions& options() const noexcept;
  /// 0 where the network tells an index alone: end-to-end rows, an output of classes.
  std::size_t class_count() const noexcept;
  /// Lines that say which head was chosen and where each value came from.
  std::string explain() const;

 private:
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
