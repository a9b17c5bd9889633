// SPDX-License-Identifier: Apache-2.0
// Decode for programs that were written for EdgeFirst HAL: its configurations, defaults, units and
// results over halyard::Decoder. What hal.h and the Python package offer stands on it.
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

/// Suppression as it is asked for; `automatic`: the configuration's, else class_agnostic, of
/// Convention::native class_aware as in C++. Values are those of the C interface.
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

/// One output as a program describes it. Without `dims` axes have the order of section "Axes" of
/// docs/compat.md; [1, n, features] with n >= 300 > features is taken for boxes first.
struct Output {
  OutputKind kind = OutputKind::detection;
  OutputFamily family = OutputFamily::ultralytics;
  std::vector<std::size_t> shape = {};  ///< physical order, outermost first
  std::vector<DimName> dims = {};       ///< one for each axis, or none
  float scale = 1;                      ///< of integer tensors without quantization of their own
  std::int32_t zero_point = 0;
  bool is_quantized = false;            ///< scale and zero_point were given, though 1 and 0
  std::vector<Anchor> anchors = {};     ///< of detections alone: fractions of the input
  std::optional<bool> normalized = {};  ///< of detections and boxes alone
};

/// What results look like and what is refused. `reference`: as EdgeFirst HAL does. `native`: as
/// halyard::Decoder does: boxes in pixels of the network's input, and errors for integer tensors
/// without quantization, thresholds outside [0, 1], and fractions without an input size.
enum class Convention : std::uint8_t { reference = 0, native = 1 };

struct DecoderOptions {
  Convention convention = Convention::reference;
  /// Stays when score >= it. Of `reference`: above 1 nothing stays, below 0 all do.
  float score_threshold = 0.5F;
  float iou_threshold = 0.5F;  ///< goes when IoU > it; of `reference`: above 1 nothing goes
  Nms nms = Nms::automatic;
  std::size_t pre_nms_top_k = 300;      ///< best candidates that enter suppression; 0: all
  std::size_t max_det = 300;            ///< most detections; 0: none
  bool multi_label = false;             ///< every class of a box that reaches the threshold
  std::optional<Size> input_dims = {};  ///< of the network's input; wins over the configuration
};

/// Bytes of one mask, borrowed: [height, width, channels], contiguous. One channel is an instance;
/// several are scores of classes at every pixel of the whole image.
struct Segmentation {
  Box box;  ///< what the bytes cover, in fractions of the network's input
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 1;
  const std::uint8_t* data = nullptr;
};

/// Masks of one frame and their memory. To reuse. A value that moves; views move with it, and an
/// empty list stays behind, to use again.
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

 private:
  friend struct SegmentationAccess;
  std::vector<Segmentation> views_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  Moved<std::size_t> capacity_;  ///< of bytes_
};

/// A class id per pixel: with one channel 1 where the byte is at least 128, else the first largest
/// channel. [height, width], u8. Errors: invalid_argument (no pixels, more than 256 channels).
Result<Tensor> segmentation_to_mask(const Segmentation& segmentation);

enum class ProtoLayout : std::uint8_t { nhwc = 0, nchw = 1 };

/// What a segmentation head leaves: prototypes for all, a row of coefficients for each box. Owns
/// its bytes: valid whatever becomes of the network's outputs. Move-only; one thread at a time.
class ProtoData {
 public:
  ProtoData() noexcept;
  ProtoData(ProtoData&&) noexcept;
  ProtoData& operator=(ProtoData&&) noexcept;
  ~ProtoData();

  ProtoLayout layout() const noexcept;
  /// Rows of coefficients, also when they are taken.
  std::size_t size() const noexcept;
  /// [H, W, K] or [K, H, W] as layout() says, of the network's type, with its quantization. Once;
  /// then none.
  std::optional<Tensor> take_protos() noexcept;
  /// [N, K]: of 8 and 16 bits as stored, with their quantization; else f32. Once; then none.
  /// Errors: no_memory.
  Result<std::optional<Tensor>> take_mask_coefficients();
  bool has_protos() const noexcept;
  bool has_coefficients() const noexcept;
  /// For materialize() and MaskPainter: boxes of `input` {1, 1} are fractions. Empty when something
  /// has been taken.
  const MaskPrototypes& prototypes() const noexcept;

 private:
  friend struct ProtoAccess;
  MaskPrototypes masks_;
  Moved<bool> has_protos_;
  Moved<bool> has_coefficients_;
};

/// In place of an element of a batch: the only one. Of several, Convention::reference takes the
/// first, as EdgeFirst HAL does, and `native` refuses the call.
constexpr std::size_t only_element = SIZE_MAX;

/// What a decode gives. A value to reuse: it keeps its memory.
struct Found {
  std::vector<Detection> boxes;  ///< best first; units: Decoder::normalized_boxes()
  /// Of heads with angles: one for each box that has been seen, which is bounds() of it. None in
  /// fractions of an input that is not square: a rotated box has no such.
  std::vector<RotatedBox> rotated;
  bool is_rotated = false;          ///< of a head with angles, whether or not anything is found
  std::vector<Keypoint> keypoints;  ///< keypoints_each for each box that has been seen
  std::size_t keypoints_each = 0;
  std::vector<ClassScore> classes;  ///< of heads that classify the image: the best five
  /// Of instances: one for each box, in its order; of scores of classes: one for the image.
  SegmentationList segmentations;
  std::vector<TrackInfo> tracks;  ///< of decode_tracked(): one for each box
};

/// Decodes one model's outputs as EdgeFirst HAL does.
///
/// Units of boxes: as the tensor has them, for outputs that hold boxes; fractions of the input for
/// grids of anchors, and for levels where its size is known, else pixels. Of segmentation heads
/// that are declared `normalized: false` with a known input size: fractions.
///
/// Of Convention::native: pixels of the input, whatever the head; keypoints and rotated boxes too.
///
/// Quantization: a tensor's own wins, else the configuration's, else none (scale 1; of native: an
/// error). Of equal classes the first wins. `batch` is the element of the batch that is decoded;
/// the reference refuses batches of another extent than described. Setters belong to one thread;
/// decode calls are thread-safe among each other.
class Decoder {
 public:
  /// Documents of schema 1 and 2. Errors: those of ModelDescription and halyard::Decoder.
  static Result<Decoder> from_json(std::string_view text, const DecoderOptions& options = {});
  static Result<Decoder> from_yaml(std::string_view text, const DecoderOptions& options = {});
  /// By extension; other names are tried as JSON, then as YAML.
  static Result<Decoder> from_file(const std::string& path, const DecoderOptions& options = {});
  static Result<Decoder> from_outputs(std::span<const Output> outputs,
                                      std::optional<DecoderVersion> version = std::nullopt,
                                      const DecoderOptions& options = {});
  static Result<Decoder> from_description(ModelDescription description,
                                          const DecoderOptions& options = {});
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;
  ~Decoder();

  /// As set last; `nms` is resolved: never automatic.
  const DecoderOptions& options() const noexcept;
  /// Errors: invalid_argument (NaN; of native: outside [0, 1]); the options are then as they were.
  Status set_score_threshold(float threshold);
  Status set_iou_threshold(float threshold);
  Status set_nms(Nms nms);
  Status set_pre_nms_top_k(std::size_t count);
  Status set_max_det(std::size_t count);

  /// Whether the boxes that decode() gives are fractions of the input; none when nothing says it.
  std::optional<bool> normalized_boxes() const noexcept;
  /// Width and height of the network's input, where they are known.
  std::optional<Size> input_dims() const noexcept;
  /// "yolo_det", "modelpack_seg", ...: to_string(Arrangement).
  std::string model_type() const;
  const ModelDescription& description() const noexcept;
  /// Elements of the batch that the outputs hold: the same for all but shared tables. Errors:
  /// invalid_argument (no outputs, shapes, extents that differ).
  Result<std::size_t> batch_size(std::span<const Tensor> outputs) const;
  /// That of the description; 1 where it has none.
  std::size_t described_batch() const noexcept;

  /// Boxes, and masks where the head has them: probabilities round(255 sigmoid), at the prototypes'
  /// resolution, cut at the box. At most `max_boxes`, on top of max_det. Errors: invalid_argument
  /// (no outputs, shapes; boxes with masks that are no fractions; `batch` beyond the tensors, or
  /// not said), those of halyard::Decoder::decode_into() and materialize().
  Status decode(std::span<const Tensor> outputs, Found& out, std::size_t max_boxes = SIZE_MAX,
                std::size_t batch = only_element) const;
  /// Boxes alone: nothing is computed for masks.
  Status decode_boxes(std::span<const Tensor> outputs, std::vector<Detection>& out,
                      std::size_t max_boxes = SIZE_MAX) const;
  /// The same boxes, and what masks are made from; none of heads without instance masks. Prototypes
  /// of 1 MiB and more are copied on a second thread meanwhile.
  Status decode_proto(std::span<const Tensor> outputs, Found& out, std::optional<ProtoData>& protos,
                      std::size_t max_boxes = SIZE_MAX, std::size_t batch = only_element) const;
  Status decode_proto(std::span<const Tensor> outputs, std::vector<Detection>& boxes,
                      std::optional<ProtoData>& protos, std::size_t max_boxes = SIZE_MAX,
                      std::size_t batch = only_element) const;
  /// Boxes of the tracker's tracks: those seen in this frame first, with their masks, then the
  /// others. `timestamp` in ns. Errors: also invalid_argument (a timestamp before the last one).
  Status decode_tracked(ByteTrack& tracker, std::uint64_t timestamp,
                        std::span<const Tensor> outputs, Found& out,
                        std::size_t max_boxes = SIZE_MAX, std::size_t batch = only_element) const;
  /// The same with a tracker of any kind; its tentative tracks are left out.
  Status decode_tracked(const AnyTracker& tracker, std::uint64_t timestamp,
                        std::span<const Tensor> outputs, Found& out,
                        std::size_t max_boxes = SIZE_MAX, std::size_t batch = only_element) const;

 private:
  friend class Painter;
  struct Impl;
  explicit Decoder(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// real = (stored - zero_point) * scale, into an f32 tensor of as many elements. Integers of 8, 16
/// and 32 bits. Errors: invalid_argument (types, counts), those of mapping.
Status dequantize(const Tensor& input, float scale, std::int32_t zero_point, Tensor& output);

}  // namespace halyard::compat
HALYARD_EXPORTS_END
