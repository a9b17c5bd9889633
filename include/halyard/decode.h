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

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Non-maximum suppression: between boxes of one class only, between all, or not at all.
enum class Nms : std::uint8_t { class_agnostic = 0, class_aware = 1, none = 2 };

/// The same for every head. Ranges are checked by Decoder::create.
struct DecodeOptions {
  float score_threshold = 0.25F;  ///< [0, 1]; a candidate stays when score >= threshold
  float iou_threshold = 0.45F;    ///< [0, 1]; a box is suppressed when IoU > threshold
  std::optional<Nms> nms = {};    ///< unset: the description's, and class_aware where it has none
  std::size_t pre_nms_top_k = 30000;  ///< best candidates that enter suppression; 0: all. Of equal
                                      ///< scores the earlier anchors. Nms::none: does not apply
  std::size_t max_detections = 300;   ///< most detections given; 0: all
};

/// Whether box coordinates are fractions of the model input (0..1) or its pixels.
enum class BoxUnits : std::uint8_t { fraction, pixels };

/// One output tensor as the decoder expects it.
struct OutputDescription {
  std::string name = {};           ///< where tensors have names too, they are matched by them
  std::string type = "detection";  ///< role; this version knows "detection". Empty: not decoded
  std::vector<std::size_t> shape = {};  ///< physical order, outermost first
  /// One per axis: batch, num_features, num_boxes, padding (of extent 1). Empty: found by shape,
  /// see Decoder.
  std::vector<std::string> axes = {};
  std::optional<Quantization> quantization = {};
  std::optional<BoxUnits> box_units = {};  ///< unset: found from the tensor (see for_outputs)
};

/// A model as the decoder needs it.
struct ModelDescription {
  Size input = {};  ///< picture size of the network; {0, 0}: unknown
  std::vector<OutputDescription> outputs = {};
  std::optional<Nms> nms = {};
  std::string decoder_version = {};      ///< "yolov8", "yolo11"; empty: yolov8
  std::vector<std::string> labels = {};  ///< class names; may be empty

  /// Parses a description document, schema version 1 or 2 (see docs/decode.md). Unknown keys are
  /// ignored. Errors: malformed (not JSON/YAML; the message has the line), invalid_argument (a
  /// value is wrong; the message has the key's path), unsupported (a role or version this build
  /// lacks).
  static Result<ModelDescription> from_json(std::string_view text);
  static Result<ModelDescription> from_yaml(std::string_view text);
  /// By extension .json, .yaml, .yml; at most 16 MiB. Errors also not_found, permission, os,
  /// exhausted (too large).
  static Result<ModelDescription> from_file(const std::string& path);
};

/// Decodes one model's outputs. Immutable after creation and thread-safe: decode() may run from
/// several threads at once.
///
/// Head of this version: YOLOv8/YOLO11 detection, one tensor [batch, 4 + C, N] or [batch, N, 4 +
/// C]: cx, cy, w, h, then C class probabilities (sigmoid applied). Any C >= 1 and N >= 1; f32, f16,
/// i8, u8 (also i16, u16), integers with per-tensor quantization, any strides. Of equal best
/// classes the first wins; of equal scores the earlier anchor goes first; NaN scores never pass,
/// nor do boxes that are not finite or have a negative extent. Boxes are not clipped to the
/// picture.
///
/// Without names the feature axis is the one of extent 4 + labels; where labels do not tell, the
/// shorter one of at least 5. Equal extents, [1, n] and [batch, n <= 300, 6] (end-to-end rows) need
/// names, labels or a version to be taken for this head.
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

  /// Detections of batch element `batch`, best first, boxes in pixels of the network's input.
  /// A tensor's own quantization wins over the description's. The batch extent may differ from the
  /// description's. Errors: invalid_argument (count or shape of the tensors differs from the
  /// description, batch out of range, integer tensor without quantization, boxes in fractions and
  /// no input size), unsupported (dtype, per-channel quantization), those of mapping.
  Result<std::vector<Detection>> decode(std::span<const Tensor> outputs,
                                        std::size_t batch = 0) const;

  const ModelDescription& description() const noexcept;
  /// As created, with `nms` set to what is in force.
  const DecodeOptions& options() const noexcept;
  std::size_t class_count() const noexcept;
  /// Lines that say which head was chosen and where each value came from.
  std::string explain() const;

 private:
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Greedy suppression as every head uses it: stable sort by score, then IoU > threshold suppresses
/// (an IoU of exactly the threshold does not). Empty boxes neither suppress nor are suppressed; NaN
/// scores are dropped. `max_detections` 0: no cap. Returns the survivors, best first.
std::vector<Detection> non_maximum_suppression(std::vector<Detection> candidates,
                                               float iou_threshold, Nms nms,
                                               std::size_t max_detections);

}  // namespace halyard
HALYARD_EXPORTS_END
