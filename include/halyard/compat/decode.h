// SPDX-License-Identifier: Apache-2.0
// Decode for programs that were written for EdgeFirst HAL: its configurations, defaults, units and
// results, computed by halyard::Decoder. hal.h and the Python package are built on it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/compat/track.h"
#include "halyard/decode.h"
#include "halyard/dequantize.h"
#include "halyard/description.h"
#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/mask.h"
#include "halyard/moved.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard::compat {

/// The requested suppression. `automatic`: that of the configuration, else class_agnostic; with
/// Convention::native class_aware, as in C++. Values are those of the C interface.
enum class Nms : std::uint8_t { class_agnostic = 0, class_aware = 1, none = 2, automatic = 3 };

/// Role of an output that a program describes. Values are those of the C interface.
enum class OutputKind : std::uint8_t {
  detection = 0,
  boxes = 1,
  scores = 2,
  protos = 3,
  segmentation = 4,
  mask_coefficients = 5,
  mask = 6,
  classes = 7,
};
/// Whether outputs of this kind may have anchors, and whether `normalized` may be set for them.
constexpr bool may_have_anchors(OutputKind kind) noexcept {
  return kind == OutputKind::detection;
}
constexpr bool may_be_normalized(OutputKind kind) noexcept {
  return kind == OutputKind::detection || kind == OutputKind::boxes;
}
/// Family of an output. Values are those of the C interface.
enum class OutputFamily : std::uint8_t { ultralytics = 0, modelpack = 1 };
/// Name of an axis. Values are those of the C interface.
enum class DimName : std::uint8_t {
  batch = 0,
  height = 1,
  width = 2,
  num_classes = 3,
  num_features = 4,
  num_boxes = 5,
  num_protos = 6,
  num_anchors_x_features = 7,
  padding = 8,
  box_coords = 9,
};
enum class DecoderVersion : std::uint8_t { yolov5 = 0, yolov8 = 1, yolo11 = 2, yolo26 = 3 };

/// One output as a program describes it. Without `dims` the axes have the order of section "Axes"
/// of docs/compat.md; [1, n, features] with n >= 300 > features counts as boxes first.
struct Output {
  OutputKind kind = OutputKind::detection;
  OutputFamily family = OutputFamily::ultralytics;
  std::vector<std::size_t> shape = {};  ///< physical order, outermost first
  std::vector<DimName> dims = {};       ///< one for each axis, or empty
  float scale = 1;                      ///< for integer tensors without their own quantization
  std::int32_t zero_point = 0;
  bool is_quantized = false;         ///< scale and zero_point were given, even if they are 1 and 0
  std::vector<Anchor> anchors = {};  ///< may_have_anchors(kind); fractions of the input
  std::optional<bool> normalized = {};  ///< may_be_normalized(kind)
};

/// The form of results, and what is refused. `reference`: as EdgeFirst HAL. `native`: as
/// halyard::Decoder: boxes in pixels of the network's input, and errors for integer tensors without
/// quantization, thresholds outside [0, 1], and fractions without an input size.
enum class Convention : std::uint8_t { reference = 0, native = 1 };

struct DecoderOptions {
  Convention convention = Convention::reference;
  /// A candidate is kept when score >= this. With `reference`: above 1 none is kept, below 0 all
  /// are.
  float score_threshold = 0.5F;
  float iou_threshold = 0.5F;  ///< IoU > this removes; with `reference`: above 1 removes none
  Nms nms = Nms::automatic;
  std::size_t pre_nms_top_k = 300;      ///< best candidates that enter suppression; 0: all
  std::size_t max_det = 300;            ///< maximum of detections; 0: none
  bool multi_label = false;             ///< keeps every class of a box that reaches the threshold
  std::optional<Size> input_dims = {};  ///< of the network's input; overrides the configuration
};

/// The bytes of one mask, borrowed: [height, width, channels], contiguous. One channel is an
/// instance; several are class scores at every pixel of the whole image.
struct Segmentation {
  Box box;  ///< the area that the bytes cover, in fractions of the network's input
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 1;
  const std::uint8_t* data = nullptr;
};

/// The masks of one frame and their memory. Reuse it. Movable: views move with it, and the list
/// that was moved from is empty and can be used again.
class SegmentationList {
 public:
  SegmentationList() noexcept;
  SegmentationList(SegmentationList&&) noexcept;
  SegmentationList& operator=(SegmentationList&&) noexcept;
  ~SegmentationList();

  std::size_t size() const noexcept { return views_.size(); }
  bool empty() const noexcept { return views_.empty(); }
  /// Valid until the list changes.
  std::span<const Segmentation> views() const noexcept { return views_; }
  /// i < size().
  const Segmentation& operator[](std::size_t i) const noexcept { return views_[i]; }
  void clear() noexcept;
  /// Copies the masks.
  void assign(const MaskSet& masks);
  /// One mask of the whole image. Returns its bytes, which the caller then writes.
  std::uint8_t* assign(std::size_t height, std::size_t width, std::size_t channels);

 private:
  std::uint8_t* reset(std::size_t bytes, std::size_t masks);
  std::vector<Segmentation> views_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  Moved<std::size_t> capacity_;  ///< of bytes_
};

/// Makes a class id per pixel. With one channel: 1 where the byte is at least 128, else 0; with
/// several: the first channel with the largest value. [height, width], u8. Errors: invalid_argument
/// (no pixels, more than 256 channels).
Result<Tensor> segmentation_to_mask(const Segmentation& segmentation);

enum class ProtoLayout : std::uint8_t { nhwc = 0, nchw = 1 };

/// The data from which masks are made: prototypes for all boxes, and a row of coefficients for each
/// box. Owns its bytes: it stays valid when the network's outputs change. Move-only; one thread at
/// a time.
class ProtoData {
 public:
  ProtoData() noexcept;
  /// `masks` must own its bytes.
  explicit ProtoData(MaskPrototypes masks) noexcept;
  ProtoData(ProtoData&&) noexcept;
  ProtoData& operator=(ProtoData&&) noexcept;
  ~ProtoData();

  ProtoLayout layout() const noexcept;
  /// Number of rows of coefficients, also after they were taken.
  std::size_t size() const noexcept;
  /// [H, W, K] or [K, H, W] according to layout(), of the network's type, with its quantization.
  /// Can be taken once; then nullopt.
  std::optional<Tensor> take_protos() noexcept;
  /// [N, K]: 8 and 16 bit coefficients as stored, with their quantization; else f32. Can be taken
  /// once; then nullopt. Errors: no_memory.
  Result<std::optional<Tensor>> take_mask_coefficients();
  bool has_protos() const noexcept;
  bool has_coefficients() const noexcept;
  /// For materialize() and MaskPainter. If `input` is {1, 1}, boxes are fractions. Empty after
  /// something was taken.
  const MaskPrototypes& prototypes() const noexcept;

 private:
  MaskPrototypes masks_;
  Moved<bool> has_protos_;
  Moved<bool> has_coefficients_;
};

/// Instead of an index of a batch element: the only element. If there are several,
/// Convention::reference takes the first, as EdgeFirst HAL does, and `native` refuses the call.
constexpr std::size_t only_element = SIZE_MAX;

/// The results of a decode. A value to reuse: it keeps its memory.
struct Found {
  std::vector<Detection> boxes;  ///< best first; units: Decoder::normalized_boxes()
  /// For heads with angles: one for each box that is seen in the frame; the box is its bounds().
  /// Empty for fractions of an input that is not square: a rotated box cannot be expressed in them.
  std::vector<RotatedBox> rotated;
  bool is_rotated = false;          ///< the head has angles, also if nothing is found
  std::vector<Keypoint> keypoints;  ///< keypoints_each for each box that is seen in the frame
  std::size_t keypoints_each = 0;
  std::vector<ClassScore> classes;  ///< for heads that classify the image: the best five
  /// For instances: one for each box, in the same order. For class scores: one for the image.
  SegmentationList segmentations;
  std::vector<TrackInfo> tracks;  ///< from decode_tracked(): one for each box
  void clear() noexcept;
};

/// Decodes one model's outputs as EdgeFirst HAL does.
///
/// Units of boxes: those of the tensor, for outputs that hold boxes; fractions of the input for
/// grids of anchors, and for levels whose size is known, else pixels. Segmentation heads that are
/// declared `normalized: false` with a known input size give fractions.
///
/// With Convention::native: pixels of the input for every head, also for keypoints and rotated
/// boxes.
///
/// Quantization: the tensor's own is used if it has one, else the configuration's, else none (scale
/// 1; with `native` an error). Of equal classes the first wins. `batch` is the element of the batch
/// that is decoded; `reference` refuses batches of another extent than described. Setters belong to
/// one thread; decode calls may run at the same time.
class Decoder {
 public:
  /// For documents of schema 1 and 2. Errors: those of ModelDescription and halyard::Decoder.
  static Result<Decoder> from_json(std::string_view text, const DecoderOptions& options = {});
  static Result<Decoder> from_yaml(std::string_view text, const DecoderOptions& options = {});
  /// The extension decides between JSON and YAML; other names are tried as JSON, then as YAML.
  static Result<Decoder> from_file(const std::string& path, const DecoderOptions& options = {});
  static Result<Decoder> from_outputs(std::span<const Output> outputs,
                                      std::optional<DecoderVersion> version = std::nullopt,
                                      const DecoderOptions& options = {});
  static Result<Decoder> from_description(ModelDescription description,
                                          const DecoderOptions& options = {});
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// The current options; `nms` is resolved and is never `automatic`.
  const DecoderOptions& options() const noexcept;
  /// Errors: invalid_argument (NaN; with `native`: outside [0, 1]); then the options do not change.
  Status set_score_threshold(float threshold);
  Status set_iou_threshold(float threshold);
  Status set_nms(Nms nms);
  Status set_pre_nms_top_k(std::size_t count);
  Status set_max_det(std::size_t count);

  /// Whether the boxes of decode() are fractions of the input; nullopt if it is not known.
  std::optional<bool> normalized_boxes() const noexcept;
  /// Width and height of the network's input, if they are known.
  std::optional<Size> input_dims() const noexcept;
  /// "yolo_det", "modelpack_seg", ...: to_string(Arrangement).
  std::string model_type() const;
  const ModelDescription& description() const noexcept;
  /// Number of batch elements in the outputs, equal in all outputs but shared tables. Errors:
  /// invalid_argument (no outputs, shapes, extents that differ).
  Result<std::size_t> batch_size(std::span<const Tensor> outputs) const;
  /// The batch extent of the description; 1 if it has none.
  std::size_t described_batch() const noexcept;

  /// Decodes boxes, and masks if the head has them: probabilities round(255 sigmoid), at the
  /// prototypes' resolution, clipped to the box. At most `max_boxes` boxes, and at most max_det.
  /// Errors: invalid_argument (no outputs, shapes; boxes with masks that are not fractions; `batch`
  /// outside the tensors, or not given where it is needed), those of
  /// halyard::Decoder::decode_into() and materialize().
  Status decode(std::span<const Tensor> outputs, Found& out, std::size_t max_boxes = SIZE_MAX,
                std::size_t batch = only_element) const;
  /// Decodes only boxes; masks are not computed.
  Status decode_boxes(std::span<const Tensor> outputs, Found& out,
                      std::size_t max_boxes = SIZE_MAX) const;
  /// Decodes the same boxes, and the data from which masks are made; nullopt for heads without
  /// instance masks. Prototypes of 1 MiB and more are copied on a second thread in the meantime.
  Status decode_proto(std::span<const Tensor> outputs, Found& out, std::optional<ProtoData>& protos,
                      std::size_t max_boxes = SIZE_MAX, std::size_t batch = only_element) const;
  /// Boxes of the tracker's tracks: first those seen in this frame, with their masks, then the
  /// others; tentative tracks are left out. `timestamp` is in ns. Errors: also invalid_argument (a
  /// timestamp before the last one).
  Status decode_tracked(const AnyTracker& tracker, std::uint64_t timestamp,
                        std::span<const Tensor> outputs, Found& out,
                        std::size_t max_boxes = SIZE_MAX, std::size_t batch = only_element) const;

 private:
  friend class Painter;
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

using halyard::dequantize;

}  // namespace halyard::compat
HALYARD_EXPORTS_END
