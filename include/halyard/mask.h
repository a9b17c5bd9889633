// SPDX-License-Identifier: Apache-2.0
// Instance masks: the compact result of a segmentation head, and masks of bytes made from it on
// request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

namespace decode {
struct MaskWorkspace;
}

/// Order of a prototype tensor's axes, without the batch axis.
enum class PrototypeOrder : std::uint8_t {
  height_width_channels = 0,
  channels_height_width = 1,
};

/// One row of mask coefficients in a network's output.
struct CoefficientRow {
  const std::byte* data = nullptr;  ///< coefficient 0
  std::ptrdiff_t stride_bytes = 0;  ///< from one coefficient to the next; may be negative
  DType dtype = DType::f32;         ///< f32, f16, bf16, i8, u8, i16, u16
  /// Required for integers: one scale, or one per coefficient.
  const Quantization* quantization = nullptr;
};

/// The masks of N detections before pixels are computed: K prototypes that all detections share,
/// and K coefficients per detection. Reuse the object: its vectors keep their memory. Row i belongs
/// to detection i; code that reorders or removes detections must do the same to the rows
/// (select()).
struct MaskPrototypes {
  /// [H, W, K] or [K, H, W], or either after a batch axis. Shares the network's memory: valid as
  /// long as the output holds this frame. f32, f16, bf16, i8, u8, i16, u16; integers with their
  /// quantization, per tensor or per channel.
  Tensor prototypes;
  std::size_t batch = 0;  ///< element of the batch axis, if there is one
  PrototypeOrder order = PrototypeOrder::height_width_channels;
  Size input;                ///< size of the network's input; boxes are in its pixels
  std::size_t channels = 0;  ///< K
  /// N x K, real values.
  std::vector<float> coefficients;
  /// N x K stored values, if all rows have the same integer type and one scale; else empty. The
  /// real value is (stored - stored_zero_point) * stored_scale.
  std::vector<std::int32_t> stored;
  DType stored_dtype = DType::f32;
  float stored_scale = 1;
  std::int32_t stored_zero_point = 0;

  std::size_t size() const noexcept { return channels == 0 ? 0 : coefficients.size() / channels; }
  bool empty() const noexcept { return coefficients.empty(); }
  /// Removes all rows and sets the row length to `channels` coefficients. Keeps memory.
  void clear(std::size_t channels) noexcept;
  /// Adds the row of the next detection. Errors: invalid_argument (integers without quantization,
  /// NaN or infinity), unsupported (dtype).
  Status append(const CoefficientRow& row);
  /// Keeps the listed rows, in the order of `rows`; an index may occur twice. Errors:
  /// invalid_argument (no such row).
  Status select(std::span<const std::uint32_t> rows);
  /// A copy of the rows [N, K]: `stored` in stored_dtype with its quantization where it is given,
  /// else `coefficients` as f32. Errors: invalid_argument (no rows), no_memory.
  Result<Tensor> coefficient_tensor() const;
};

/// How a logit, the sum of coefficient x prototype, becomes a pixel. All rules sample the same
/// logits: bilinear at half-pixel centres, coordinates clamped to the prototypes' centres,
/// horizontal pass first, in f32. "On" is a logit > 0, so sigmoid > 1/2; NaN is off.
/// - logits: target pixels; logits are interpolated, then cropped to the box rounded to whole
///   pixels (at least one). For displays and COCO.
/// - prototype: pixels of the prototypes, cropped to the box rounded outwards (at least one pixel):
///   floor(x1 * scale) and ceil(x2 * scale) in single precision, scale = prototype pixels / input
///   pixels. A program that crops by the detection's box computes the same rectangle.
/// - probability: the same pixels, bytes round(255 sigmoid(logit)).
/// - ultralytics: as in the mask validation of Ultralytics' trainer: logits are interpolated to the
///   network's input and cropped to x1 <= column < x2 and y1 <= row < y2. Then, if a target size is
///   given, the content rectangle is cut out, resampled bilinearly as 0 and 1, and rounded down.
/// - ultralytics_quick: logits are cropped in prototype pixels (x1 <= column < x2 in their units),
///   0 outside, then interpolated once.
enum class MaskRule : std::uint8_t {
  logits = 0,
  prototype = 1,
  probability = 2,
  ultralytics = 3,
  ultralytics_quick = 4,
};

struct MaskOptions {
  MaskRule rule = MaskRule::logits;
  /// Size of the target in pixels, both > 0. Unset: the network's input. Must be unset for rules at
  /// prototype resolution.
  std::optional<Size> size = {};
  /// The part of the network's input that the target shows, in pixels of the input:
  /// Placement::content() if the target is the image. Unset: the whole input. Rule ultralytics
  /// needs whole pixels.
  std::optional<RegionF> content = {};
};

/// One mask: bytes for the pixels of `region`; everything outside is 0. The bytes are borrowed from
/// the set.
struct MaskView {
  Region region;  ///< in pixels of the set's frame; may be empty
  const std::uint8_t* data = nullptr;
  std::size_t stride_bytes = 0;
  const std::uint8_t* row(std::int32_t y) const noexcept {
    return data + static_cast<std::size_t>(y) * stride_bytes;
  }
};

/// Masks of one frame in one block of memory, in the order of the detections. Reuse it: it
/// allocates nothing once it has been as large. Move-only; one thread at a time.
class MaskSet {
 public:
  MaskSet() noexcept;
  /// A moved-from set is empty and has no frame.
  MaskSet(MaskSet&&) noexcept;
  MaskSet& operator=(MaskSet&&) noexcept;
  ~MaskSet();

  std::size_t size() const noexcept { return regions_.size(); }
  bool empty() const noexcept { return regions_.empty(); }
  /// Size of the image that regions refer to, in pixels.
  Size frame() const noexcept { return frame_; }
  /// Valid until the set changes. i < size().
  MaskView operator[](std::size_t i) const noexcept {
    return {regions_[i], bytes_.data() + offsets_[i], static_cast<std::size_t>(regions_[i].width)};
  }
  /// The region as fractions of the content rectangle, clamped to [0, 1]: slightly larger than the
  /// box at prototype resolution. i < size().
  RegionF fraction(std::size_t i) const noexcept;
  void clear() noexcept;

 private:
  friend Status materialize(const MaskPrototypes&, std::span<const Detection>, const MaskOptions&,
                            MaskSet&);
  std::vector<Region> regions_;
  std::vector<std::size_t> offsets_;
  std::vector<std::uint8_t> bytes_;
  Size frame_;
  RegionF content_;  ///< in pixels of the frame
  std::unique_ptr<decode::MaskWorkspace> workspace_;
};

/// Makes the masks of all detections. Boxes are in pixels of the network's input, as decode() gives
/// them: corners in any order, clipped to the input. Logits are computed only for the pixels that a
/// mask can touch. Integer prototypes with integer coefficients, one scale each and at most 8 x 16
/// bits, are multiplied exactly, as integers. Everything else is computed in f32, in an order that
/// depends neither on the tensor's layout nor on the processor: the result is bit-identical
/// everywhere. The error of a logit in f32 is at most (ceil(K / 16) + 6) 2^-24 sum |coefficient x
/// prototype|.
///
/// Errors, with `out` empty: invalid_argument (shapes, K differs, not as many rows as detections,
/// size or content not above 0, a box that is not finite or extends beyond twice the input, which
/// indicates wrong units; integers without quantization), unsupported (dtype), those of mapping.
Status materialize(const MaskPrototypes& prototypes, std::span<const Detection> detections,
                   const MaskOptions& options, MaskSet& out);

}  // namespace halyard
HALYARD_EXPORTS_END
