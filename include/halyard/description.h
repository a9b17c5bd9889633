// SPDX-License-Identifier: Apache-2.0
// Description: what a network's output tensors mean, as a document, a program or the model's own
// metadata says it. The decoder is made from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/format.h"
#include "halyard/geometry.h"
#include "halyard/quantization.h"
#include "halyard/result.h"
#include "halyard/selection.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Whether box coordinates are fractions of the model input (0..1) or its pixels.
enum class BoxUnits : std::uint8_t { fraction, pixels };

/// What an output tensor holds, per box unless said otherwise.
enum class OutputRole : std::uint8_t {
  auxiliary,          ///< not decoded
  detection,          ///< boxes, scores and what else the head has, side by side on one axis
  boxes,              ///< four coordinates, or distributions of them
  boxes_xy,           ///< centres alone; a part of boxes
  boxes_wh,           ///< extents alone; a part of boxes
  scores,             ///< one per class
  objectness,         ///< one
  classes,            ///< a class index
  mask_coefficients,  ///< one per prototype
  prototypes,         ///< pictures that coefficients weigh into masks: once per picture
  keypoints,          ///< x, y and, with three dimensions, visibility, of each point
  angles,             ///< of oriented boxes, radians
  priors,             ///< anchors that boxes are offsets of: cx, cy, w, h
  segmentation,       ///< scores of every class at every pixel
  class_map,          ///< a class index at every pixel
  classification,     ///< scores of the whole picture
};
/// The word of documents ("boxes", "mask_coefs", "protos", "landmarks", "masks"...); auxiliary: "".
std::string_view to_string(OutputRole role) noexcept;

/// What an axis of an output counts.
enum class AxisName : std::uint8_t {
  unknown,  ///< a name that this build does not know
  batch,
  height,
  width,
  num_classes,
  num_features,  ///< of a detection: coordinates, scores and so on
  num_boxes,     ///< also anchors and queries
  num_protos,
  num_anchors_x_features,  ///< anchors of a cell times features of each
  padding,                 ///< of extent 1
  box_coords,              ///< of extent 4, or 4 times the bins of a distribution
};
/// The word of documents, as the enumerator is spelt.
std::string_view to_string(AxisName axis) noexcept;

/// The family of networks, which says how coordinates and scores are laid out:
/// - ultralytics: YOLO. cx, cy, w, h; then objectness where score_format says so; then classes.
/// - modelpack: corners or grids of anchors; score of a grid: objectness times class.
/// - ssd: offsets of priors with variances 0.1, 0.1, 0.2, 0.2; class 0 is the background.
/// - nanodet: scores first, then distributions of distances, levels one after the other.
/// - detr: cx, cy, w, h as fractions and scores of each query; no suppression.
/// - semantic: scores or classes of pixels.
enum class Family : std::uint8_t { ultralytics, modelpack, ssd, nanodet, detr, semantic };
std::string_view to_string(Family family) noexcept;

/// How box coordinates are coded:
/// - direct: decoded boxes; in parts of a level, distances to the four sides in strides.
/// - dfl: distances as distributions over bins (Li et al., "Generalized focal loss", 2020).
/// - anchor: offsets of a cell and powers of an anchor's extent (YOLOv5, ModelPack grids).
/// - corners: x1, y1, x2, y2.
/// - prior: offsets of priors (SSD).
enum class BoxEncoding : std::uint8_t { direct, dfl, anchor, corners, prior };
std::string_view to_string(BoxEncoding encoding) noexcept;

/// Scores stand alone, or each is multiplied with the objectness of its box.
enum class ScoreFormat : std::uint8_t { per_class, obj_x_class };
std::string_view to_string(ScoreFormat format) noexcept;

enum class Activation : std::uint8_t { none, sigmoid, softmax, tanh };
std::string_view to_string(Activation activation) noexcept;

/// Width and height of an anchor as fractions of the model input.
using Anchor = std::array<float, 2>;

/// Input pixels from one cell of an output to the next.
struct Stride {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  friend bool operator==(const Stride&, const Stride&) = default;
};

/// One output as the decoder expects it: a tensor, or several parts that make one.
struct OutputDescription {
  std::string name = {};  ///< where tensors have names too, they are matched by them
  OutputRole role = OutputRole::detection;
  Family family = Family::ultralytics;
  std::vector<std::size_t> shape = {};  ///< physical order, outermost first
  std::vector<AxisName> axes = {};      ///< one per axis; empty: found by shape, see Decoder
  std::optional<DType> dtype = {};      ///< unset: whatever the tensor has
  std::optional<Quantization> quantization = {};
  std::optional<BoxUnits> box_units = {};  ///< unset: found from the tensor (Decoder::for_outputs)
  std::optional<BoxEncoding> encoding = {};
  std::optional<ScoreFormat> score_format = {};
  std::vector<Anchor> anchors = {};
  std::optional<Stride> stride = {};          ///< of a level; parts only
  Activation activation = Activation::none;   ///< that the decoder has to apply to scores
  std::vector<std::uint32_t> strides = {};    ///< of levels that follow each other in one tensor
  std::vector<OutputDescription> parts = {};  ///< one level deep; all with a stride, or none
};

/// Points of a pose.
struct KeypointShape {
  std::uint32_t count = 0;       ///< of each detection
  std::uint32_t dimensions = 3;  ///< 2: x, y; 3: visibility too
  friend bool operator==(const KeypointShape&, const KeypointShape&) = default;
};

/// Where a value of a description came from.
struct Origin {
  std::string field;   ///< "labels", "outputs[0].role"
  std::string source;  ///< in words: "metadata \"names\" of model.onnx"
};

/// A model as the decoder needs it. Built by hand field by field, read from a document, or found
/// from the model itself.
struct ModelDescription {
  Size input = {};  ///< picture size of the network; {0, 0}: unknown
  std::vector<OutputDescription> outputs = {};
  std::optional<Nms> nms = {};
  std::string decoder_version = {};      ///< "yolov5", "yolov8", "yolo11", "yolo26"; or empty
  std::vector<std::string> labels = {};  ///< class names; may be empty
  std::optional<KeypointShape> keypoints = {};
  std::vector<std::string> warnings = {};  ///< what was passed over: unknown keys and names
  std::vector<Origin> origins = {};        ///< of values that no document gave

  /// Parses a description document, schema version 1 or 2 (see docs/decode.md). Unknown keys are
  /// passed over and listed in `warnings`. Errors: malformed (not JSON/YAML; the message has the
  /// line), invalid_argument (a value is wrong; the message has the key's path), unsupported (a
  /// role or version this build lacks).
  static Result<ModelDescription> from_json(std::string_view text);
  static Result<ModelDescription> from_yaml(std::string_view text);
  /// By extension .json, .yaml, .yml; at most 16 MiB. Errors also not_found, permission, os,
  /// exhausted (too large).
  static Result<ModelDescription> from_file(const std::string& path);
};

}  // namespace halyard
HALYARD_EXPORTS_END
