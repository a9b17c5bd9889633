// SPDX-License-Identifier: Apache-2.0
// Instance masks: what a segmentation head leaves, and bytes made from it when they are wanted.
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

/// One row of mask coefficients where a head finds them.
struct CoefficientRow {
  const std::byte* data = nullptr;  ///< coefficient 0
  std::ptrdiff_t stride_bytes = 0;  ///< from one coefficient to the next, of any sign
  DType dtype = DType::f32;         ///< f32, f16, bf16, i8, u8, i16, u16
  /// Integers need it: one scale, or one per coefficient.
  const Quantization* quantization = nullptr;
};

/// The masks of N detections before anybody has asked for a pixel: K prototypes that all share, and
/// K coefficients for each. A value to reuse: its vectors keep their memory. Detection i owns row
/// i; who reorders or drops detections does the same to the rows (select()).
struct MaskPrototypes {
  /// [H, W, K] or [K, H, W], or either behind a batch axis. Shares the network's memory: valid as
  /// long as the output holds this frame. f32, f16, bf16, i8, u8, i16, u16; integers with their
  /// quantization, per tensor or per channel.
  Tensor prototypes;
  std::size_t batch = 0;  ///< element of the batch axis, where there is one
  PrototypeOrder order = PrototypeOrder::height_width_channels;
  Size input;                ///< of the network's input, whose pixels boxes are given in
  std::size_t channels = 0;  ///< K
  /// N x K, real values.
  std::vector<float> coefficients;
  /// N x K as stored, where every row came from one integer type with one scale; else empty.
  /// (stored - stored_zero_point) * stored_scale is the real value.
  std::vector<std::int32_t> stored;
  DType stored_dtype = DType::f32;
  float stored_scale = 1;
  std::int32_t stored_zero_point = 0;

  std::size_t size() const noexcept { return channels == 0 ? 0 : coefficients.size() / channels; }
  bool empty() const noexcept { return coefficients.empty(); }
  /// Drops all rows; rows of `channels` coefficients will follow. Keeps memory.
  void clear(std::size_t channels) noexcept;
  /// Adds the row of the next detection. Errors: invalid_argument (integers without quantization,
  /// NaN or infinity), unsupported (dtype).
  Status append(const CoefficientRow& row);
  /// Keeps the rows whose indices are listed, in that order; an index may come twice. Errors:
  /// invalid_argument (no such row).
  Status select(std::span<const std::uint32_t> rows);
};

/// How a logit, the sum of coefficient x prototype, becomes a pixel. Every rule samples the same
/// logits: bilinear at half-pixel centres, coordinates clamped to the prototypes' own centres,
/// first along rows, in f32. "On" is a logit > 0, so sigmoid > 1/2; NaN is off.
/// - logits: target pixels, logits interpolated, then cut at the box rounded to whole pixels (at
///   least one). What a display or COCO wants.
/// - prototype: pixels of the prototypes, cut at the box rounded outwards (at least one pixel):
///   floor(x1 * scale) and ceil(x2 * scale) in single precision, scale = prototype pixels / input
///   pixels. Programs that crop by the box that they get compute the same rectangle.
/// - probability: the same pixels, bytes round(255 sigmoid(logit)).
/// - ultralytics: what its trainer validates masks with: logits interpolated to the network's
///   input, on where x1 <= column < x2 and y1 <= row < y2; then, where a target is asked for, the
///   content rectangle is cut out, resampled bilinearly as 0 and 1, and rounded down.
/// - ultralytics_quick: logits cut at prototype pixels (x1 <= column < x2 in their units), 0
///   outside, then interpolated once.
enum class MaskRule : std::uint8_t {
  logits = 0,
  prototype = 1,
  probability = 2,
  ultralytics = 3,
  ultralytics_quick = 4,
};

struct MaskOptions {
  MaskRule rule = MaskRule::logits;
  /// Pixels of the target, both > 0. Unset: the network's input. Rules at prototype resolution take
  /// none.
  std::optional<Size> size = {};
  /// The part of the network's input that the target shows, in its pixels: Placement::content() for
  /// a target that is the image. Unset: all of it. Rule ultralytics takes whole pixels.
  std::optional<RegionF> content = {};
};

/// One mask: bytes for the pixels of `region`, everything outside is 0. Borrowed from its set.
struct MaskView {
  Region region;  ///< in pixels of the set's frame; may be empty
  const std::uint8_t* data = nullptr;
  std::size_t stride_bytes = 0;
  const std::uint8_t* row(std::int32_t y) const noexcept {
    return data + static_cast<std::size_t>(y) * stride_bytes;
  }
};

/// Masks of one frame in one piece of memory, in the order of the detections. Reuse it: nothing is
/// allocated once it has been as large. Move-only; one thread at a time.
class MaskSet {
 public:
  MaskSet() noexcept;
  /// A set that was moved from is empty, without a frame.
  MaskSet(MaskSet&&) noexcept;
  MaskSet& operator=(MaskSet&&) noexcept;
  ~MaskSet();

  std::size_t size() const noexcept { return regions_.size(); }
  bool empty() const noexcept { return regions_.empty(); }
  /// Pixels that regions lie in.
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

/// Makes the masks of all detections. Boxes in pixels of the network's input, as decode() gives
/// them: corners in any order, clipped to the input. Logits are computed for the pixels that a mask
/// can touch and for no others. Integer prototypes with integer coefficients, one scale each and 8
/// x 16 bits at most, are multiplied as integers, exactly; everything else in f32, in an order that
/// neither the tensor's layout nor the processor changes: the bits are the same everywhere. A logit
/// of f32 lies within (ceil(K / 16) + 6) 2^-24 sum |coefficient x prototype| of the exact one.
///
/// Errors, with `out` empty: invalid_argument (shapes, K differs, not as many rows as detections,
/// size or content not above 0, a box that is not finite or reaches beyond twice the input: boxes
/// in other units do; integers without quantization), unsupported (dtype), those of mapping.
Status materialize(const MaskPrototypes& prototypes, std::span<const Detection> detections,
                   const MaskOptions& options, MaskSet& out);

}  // namespace halyard
HALYARD_EXPORTS_END
