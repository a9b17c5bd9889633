// SPDX-License-Identifier: Apache-2.0
// Description: the meaning of a network's output tensors, from a document, a program or the model's
// own metadata. A Decoder is made from it.
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

/// What an output tensor holds; per box, unless stated otherwise.
enum class OutputRole : std::uint8_t {
  auxiliary,          ///< not decoded
  detection,          ///< boxes, scores and the head's other features, side by side on one axis
  boxes,              ///< four coordinates, or distributions of them
  boxes_xy,           ///< only centres; a part of boxes
  boxes_wh,           ///< only extents; a part of boxes
  scores,             ///< one score per class
  objectness,         ///< one
  classes,            ///< a class index
  mask_coefficients,  ///< one per prototype
  prototypes,         ///< images whose weighted sums are masks; one set per image
  keypoints,          ///< x, y and, with three dimensions, visibility of each point
  angles,             ///< angles of oriented boxes, radians
  priors,             ///< anchors that boxes are relative to: cx, cy, w, h
  segmentation,       ///< scores of every class at every pixel
  class_map,          ///< a class index at every pixel
  classification,     ///< scores of the whole image
};
/// The name used in documents ("boxes", "mask_coefs", "protos", "landmarks", "masks"...);
/// auxiliary: "".
std::string_view to_string(OutputRole role) noexcept;

/// What an axis of an output counts.
enum class AxisName : std::uint8_t {
  unknown,  ///< a name that this build does not have
  batch,
  height,
  width,
  num_classes,
  num_features,  ///< features of a detection: coordinates, scores and so on
  num_boxes,     ///< also anchors and queries
  num_protos,
  num_anchors_x_features,  ///< anchors per cell times features per anchor
  padding,                 ///< of extent 1
  box_coords,              ///< of extent 4, or 4 times the bins of a distribution
};
/// The name used in documents, which is the enumerator's name.
std::string_view to_string(AxisName axis) noexcept;

/// The family of networks, which decides how coordinates and scores are laid out:
/// - ultralytics: YOLO. cx, cy, w, h; then objectness if score_format is obj_x_class; then classes.
/// - modelpack: corners or grids of anchors; score of a grid: objectness times class.
/// - ssd: offsets of priors with variances 0.1, 0.1, 0.2, 0.2; class 0 is the background.
/// - nanodet: scores first, then distributions of distances; one level after another.
/// - detr: cx, cy, w, h as fractions and scores of each query; no suppression.
/// - semantic: scores or classes of pixels.
enum class Family : std::uint8_t { ultralytics, modelpack, ssd, nanodet, detr, semantic };
std::string_view to_string(Family family) noexcept;

/// How box coordinates are coded:
/// - direct: decoded boxes; in parts of a level, distances to the four sides in units of the
///   stride.
/// - dfl: distances as distributions over bins (Li et al., "Generalized focal loss", 2020).
/// - anchor: offsets from a cell and scales of an anchor's extent (YOLOv5, ModelPack grids).
/// - corners: x1, y1, x2, y2.
/// - prior: offsets from priors (SSD).
enum class BoxEncoding : std::uint8_t { direct, dfl, anchor, corners, prior };
std::string_view to_string(BoxEncoding encoding) noexcept;

/// Whether scores are used as they are, or each is multiplied by the objectness of its box.
enum class ScoreFormat : std::uint8_t { per_class, obj_x_class };
std::string_view to_string(ScoreFormat format) noexcept;

enum class Activation : std::uint8_t { none, sigmoid, softmax, tanh };
std::string_view to_string(Activation activation) noexcept;

/// What a network does, with Ultralytics' names ("detect", "segment", "pose", "obb", "classify",
/// "semantic"). With obb the last feature of a detection is the angle of its box.
enum class Task : std::uint8_t { detect, segment, pose, obb, classify, semantic };
std::string_view to_string(Task task) noexcept;

/// Width and height of an anchor as fractions of the model input.
using Anchor = std::array<float, 2>;

/// Input pixels from one cell of an output to the next.
struct Stride {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  friend bool operator==(const Stride&, const Stride&) = default;
};

/// One output as the decoder expects it: a tensor, or several parts that form one output.
struct OutputDescription {
  std::string name = {};  ///< if tensors have names too, they are matched by name
  OutputRole role = OutputRole::detection;
  Family family = Family::ultralytics;
  std::vector<std::size_t> shape = {};  ///< physical order, outermost first
  std::vector<AxisName> axes = {};      ///< one per axis; empty: found from the shape, see Decoder
  std::optional<DType> dtype = {};      ///< unset: any
  std::optional<Quantization> quantization = {};
  std::optional<BoxUnits> box_units = {};  ///< unset: found from the tensor (Decoder::for_outputs)
  std::optional<BoxEncoding> encoding = {};
  std::optional<ScoreFormat> score_format = {};
  std::vector<Anchor> anchors = {};
  std::optional<Stride> stride = {};          ///< of a level: for parts and for grids of anchors
  Activation activation = Activation::none;   ///< to be applied to scores by the decoder
  Activation applied = Activation::none;      ///< already applied by the network; for information
  std::vector<std::uint32_t> strides = {};    ///< of the levels that follow each other in one
                                              ///< tensor
  std::vector<OutputDescription> parts = {};  ///< parts have no parts; either all have a stride, or
                                              ///< none
  friend bool operator==(const OutputDescription& a, const OutputDescription& b);
};

/// Number and form of the points of a pose.
struct KeypointShape {
  std::uint32_t count = 0;       ///< points per detection
  std::uint32_t dimensions = 3;  ///< 2: x, y; 3: x, y, visibility
  friend bool operator==(const KeypointShape&, const KeypointShape&) = default;
};

/// The source of a value of a description.
struct Origin {
  std::string field;   ///< "labels", "outputs[0].role"
  std::string source;  ///< in words: "metadata \"names\" of model.onnx"
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// Limits of a document, against texts made to exhaust memory or time. A document beyond them is
/// `exhausted` (bytes) or `malformed` (the others).
struct DocumentLimits {
  static constexpr std::size_t json_bytes = std::size_t{4} << 20;
  static constexpr std::size_t yaml_bytes = std::size_t{1} << 20;
  static constexpr std::size_t nodes = std::size_t{1} << 17;  ///< values, with aliases resolved
  /// Nesting of lists and maps, checked while the text is read: 64 kB of stack are enough for any
  /// text.
  static constexpr std::size_t depth = 64;
  static constexpr std::size_t outputs = 4096;  ///< also max parts of each, anchors, strides
  static constexpr std::size_t labels = 100000;
  static constexpr std::size_t warnings = 100;  ///< then one more, which has the count of the rest
};

/// A model as the decoder needs it. Built by hand field by field, made by describe_model(), read
/// from a document, or found from the model itself by infer_description().
struct ModelDescription {
  Size input = {};  ///< image size of the network; {0, 0}: unknown
  std::vector<OutputDescription> outputs = {};
  std::optional<Nms> nms = {};
  std::optional<Task> task = {};
  std::string decoder_version = {};      ///< "yolov5", "yolov8", "yolo11", "yolo26"; or empty
  std::vector<std::string> labels = {};  ///< class names; may be empty
  std::optional<KeypointShape> keypoints = {};
  std::string camera_adaptor = {};         ///< the document's name of the input adaptor; not used
                                           ///< here
  std::vector<std::string> warnings = {};  ///< ignored parts of the document: unknown keys and
                                           ///< names
  std::vector<Origin> origins = {};        ///< sources of values that do not come from a document
  friend bool operator==(const ModelDescription& a, const ModelDescription& b);

  /// Parses a description document, schema version 1 or 2 (see docs/description.md), and validates
  /// it. Unknown keys are ignored and listed in `warnings`; a key that occurs twice in a map is
  /// refused. Errors: malformed (not JSON/YAML, beyond DocumentLimits; the message has the line),
  /// exhausted (too long), invalid_argument (a value is wrong, or contradicts another; the message
  /// has the key's path, the value and the limit), unsupported (a name or version that this build
  /// does not have).
  static Result<ModelDescription> from_json(std::string_view text);
  static Result<ModelDescription> from_yaml(std::string_view text);
  /// The format follows from the extension .json, .yaml or .yml. Errors: also not_found,
  /// permission, os.
  static Result<ModelDescription> from_file(const std::string& path);
  /// As above; a file with another extension is read as JSON or, if it is none, as YAML.
  static Result<ModelDescription> from_any_file(const std::string& path);

  /// Returns the description as a document of version 2, indented. If validate() succeeds,
  /// from_json() of it gives the same description except for `warnings` and `origins`. Bytes of
  /// texts that are not UTF-8 are written as U+FFFD.
  std::string to_json() const;
};

/// Checks all rules that need only the description: extents, names of axes, quantization,
/// encodings, parts, and that outputs fit each other. It is applied to documents, and
/// Decoder::create() applies it to descriptions made by hand. Errors: invalid_argument,
/// unsupported; the message has path ("outputs[0].outputs[2].shape"; parts are a document's
/// "outputs"), value and limit. exhausted (its document would be beyond DocumentLimits).
Status validate(const ModelDescription& description);

/// How a model's outputs belong together, found from families, roles and parts.
enum class Arrangement : std::uint8_t {
  yolo_det,             ///< detection
  yolo_seg_det,         ///< detection that includes coefficients, prototypes
  yolo_seg_det_2way,    ///< detection, coefficients, prototypes
  yolo_split_det,       ///< boxes, scores
  yolo_split_seg_det,   ///< boxes, scores, coefficients, prototypes
  yolo_end_to_end_det,  ///< rows of corners, score, class, after suppression
  yolo_end_to_end_seg_det,
  yolo_split_end_to_end_det,  ///< boxes, scores, classes
  yolo_split_end_to_end_seg_det,
  yolo_pose_det,  ///< detection that includes keypoints
  yolo_split_pose_det,
  yolo_end_to_end_pose_det,
  yolo_obb_det,  ///< detection that includes an angle
  yolo_split_obb_det,
  yolo_end_to_end_obb_det,
  yolo_anchor_det,     ///< grids of anchors
  yolo_per_scale_det,  ///< boxes and scores in parts, one for each stride
  yolo_per_scale_seg_det,
  yolo_per_scale_pose_det,
  yolo_per_scale_obb_det,
  classifier,
  modelpack_det,
  modelpack_det_split,  ///< grids of anchors
  modelpack_seg,
  modelpack_seg_det,
  modelpack_seg_det_split,
  ssd_det,
  nanodet_det,
  detr_det,
  semantic_seg,
};
/// The enumerator's name: "yolo_seg_det".
std::string_view to_string(Arrangement arrangement) noexcept;
/// Finds the arrangement. Pure. A network is end-to-end if decoder_version is "yolo26". It is also
/// end-to-end if neither decoder_version nor score_format is set and its detection has the number
/// of features of such rows, with axes named [batch, num_boxes, num_features], or without names and
/// at most 300 rows. Two labels and rows of 6 are ambiguous with names; without names they are two
/// classes. Decoder uses the same rule. Errors: invalid_argument (no output to decode, families
/// mixed, ambiguity), unsupported (roles that do not go together; the message lists them).
Result<Arrangement> arrangement_of(const ModelDescription& description);

}  // namespace halyard
HALYARD_EXPORTS_END
