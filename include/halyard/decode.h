// SPDX-License-Identifier: Apache-2.0
// Decode: converts a network's output tensors into detections in pixels of the network's input.
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

/// Options of every head. Decoder::create() checks the ranges. The fields of selection (NMS) are
/// documented in selection.h.
struct DecodeOptions {
  float score_threshold = 0.25F;  ///< [0, 1]; a candidate passes if score >= threshold
  float iou_threshold = 0.45F;    ///< [0, 1]; a box is suppressed if its overlap is > threshold
  /// Unset: the description's, or class_aware if it has none (or "auto").
  std::optional<Nms> nms = {};
  std::size_t pre_nms_top_k = 30000;  ///< max candidates that enter suppression, best first; 0: no
                                      ///< limit. Of equal scores the earlier anchors. Ignored for
                                      ///< Nms::none
  std::size_t max_detections = 300;   ///< max detections returned; 0: no limit
  /// Empty, or one threshold for each class, each in [0, 1], which replace score_threshold. The
  /// best class of an anchor is chosen first; its score is then compared with the threshold of that
  /// class.
  std::vector<float> class_thresholds = {};
  Suppression suppression = Suppression::greedy;
  Overlap overlap = Overlap::iou;
  float soft_sigma = 0.5F;    ///< > 0; for Suppression::soft_gaussian
  float soft_floor = 0.001F;  ///< [0, 1]; soft-NMS: boxes whose decayed score is below are removed
  /// Every class of an anchor that reaches its threshold is a candidate, not only the best one.
  /// Nms::class_agnostic becomes class_aware; otherwise one class would suppress the other classes
  /// of the same box.
  bool multi_label = false;
  std::size_t top_classes = 5;  ///< classification heads: max classes returned; 0: no limit

  /// Options of Ultralytics' prediction: score > 0.25, IoU > 0.7 within a class, at most 300. There
  /// a score equal to the threshold does not pass, so score_threshold is the next float.
  static DecodeOptions ultralytics();
  /// Options of Ultralytics' validation: as above, but score > 0.001, and every class of an anchor.
  static DecodeOptions ultralytics_val();
  /// EdgeFirst HAL's defaults: score >= 0.5, IoU > 0.5, class_agnostic, the best 300 enter
  /// suppression. Reset `nms` to use the description's.
  static DecodeOptions hal();
};

/// A class of the whole image, with its score.
struct ClassScore {
  std::int32_t label = 0;  ///< class index, from 0
  float score = 0;         ///< after the activation that the description asks for
  friend bool operator==(const ClassScore&, const ClassScore&) = default;
};

/// The result of one decode. Reuse it: its vectors keep their memory. Parts that the head does not
/// have are empty.
struct Decoded {
  std::vector<Detection> detections;  ///< best first, boxes in pixels of the network's input
  std::vector<RotatedBox> rotated;    ///< heads with angles: one per detection; the detection's box
                                      ///< is its bounds()
  std::vector<Keypoint> keypoints;    ///< keypoints_each per detection, in the order of the
                                      ///< detections
  std::size_t keypoints_each = 0;     ///< 0: the head has none
  /// Row i belongs to detection i. `prototypes` shares the output's memory: call materialize()
  /// before the network runs again. Coefficients that are not finite give a row of zeros: an empty
  /// mask.
  MaskPrototypes masks;
  std::vector<ClassScore>
      classes;  ///< classification heads: best first; of equal scores the earlier class.
                ///< score_threshold does not apply; NaN is left out

  /// Drops all rows but the first `count`, at most detections.size(). `classes` stays.
  void keep_first(std::size_t count);
  /// Converts pixels of the network's input to fractions of it. Removes the rotated boxes if the
  /// input is not square: they cannot be expressed in fractions. Masks stay.
  void to_fractions(Size input);
};

/// Decodes one model's outputs. Immutable after creation and thread-safe: decode() may run from
/// several threads at once.
///
/// Supported heads: see the table in docs/decode.md. Types: f32, f16, bf16, i8, u8, i16, u16 in any
/// mix and with any strides; integers with one scale, or one per feature. Of equal best classes the
/// first wins; under a sigmoid or tanh the logits are compared. Of equal scores the earlier anchor
/// comes first. NaN scores never pass, nor do boxes that are not finite or have a negative extent.
/// Boxes are not clipped to the image. Scores are treated as probabilities: with objectness, a box
/// whose objectness is below the threshold does not pass.
///
/// Oriented boxes: cx, cy, w, h and an angle, compared by probabilistic_iou(). Ultralytics
/// suppresses them with Suppression::fast. In levels the angle is a logit, (sigmoid - 1/4) pi, and
/// the offset of the centre is rotated by the same angle, as in Ultralytics' head.
///
/// Without axis names the feature axis is the one of extent 4 + number of labels; if labels do not
/// decide, the shorter axis if it is at least 5, else the other. Equal extents, an extent of 4
/// (boxes without scores) and [1, n] need names. [batch, n <= 300, 6] is treated as rows of boxes
/// after suppression in the network, unless labels, a score_format or a decoder_version contradict.
class Decoder {
 public:
  /// Errors: invalid_argument (thresholds, shapes), unsupported (no head fits; the message lists
  /// the given shapes and the known layouts).
  static Result<Decoder> create(ModelDescription description, DecodeOptions options = {});

  /// Chooses the head from the shapes alone. If `box_units` is unset: pixels for float tensors; for
  /// quantized tensors fraction if the largest value that they can store is below 4, else pixels.
  /// Errors: those of create().
  static Result<Decoder> for_outputs(std::span<const TensorSpec> outputs, Size input,
                                     DecodeOptions options = {},
                                     std::optional<BoxUnits> box_units = std::nullopt);

  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// Returns the detections of batch element `batch`, best first, boxes in pixels of the network's
  /// input; empty for classification heads. A tensor's own quantization overrides the
  /// description's. The batch extent may differ from the description's. Errors: invalid_argument
  /// (count or shape of the tensors differs from the description, batch out of range, integer
  /// tensor without quantization, boxes in fractions without an input size), unsupported (dtype,
  /// quantization per channel of another axis than the features'), those of mapping.
  Result<std::vector<Detection>> decode(std::span<const Tensor> outputs,
                                        std::size_t batch = 0) const;

  /// Decodes the detections and all other parts of the head into `out`, which should be reused. It
  /// allocates nothing once `out` and the decoder have processed frames with as many candidates
  /// (except that the quantization of integer prototypes is copied if it is the description's).
  /// After an error the content of `out` is unspecified.
  Status decode_into(std::span<const Tensor> outputs, Decoded& out, std::size_t batch = 0) const;

  const ModelDescription& description() const noexcept;
  /// The options as created, with `nms` set to the value in use.
  const DecodeOptions& options() const noexcept;
  /// 0 if the network gives only a class index: end-to-end rows, an output of classes.
  std::size_t class_count() const noexcept;
  /// Lines of text: the chosen head and the source of each value.
  std::string explain() const;

 private:
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
