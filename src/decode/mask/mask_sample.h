// SPDX-License-Identifier: Apache-2.0
// From logits to bytes: the sampler that every rule uses, and the sigmoid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/mask/mask_geometry.h"

namespace halyard::decode {

/// Logits of source pixels: pixel (x, y) is at data[(y - top) * stride + x - left]. One row and one
/// column past the last sample must exist and hold finite values.
struct LogitGrid {
  const float* data = nullptr;
  std::size_t stride = 0;
  std::int32_t left = 0;
  std::int32_t top = 0;
};

/// Bytes of a mask, with rows `stride` bytes apart. Up to byte_padding bytes past the end may be
/// written.
struct ByteRows {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
};
inline constexpr std::size_t byte_padding = 64;

/// Floats that `lines` of sample_mask() must hold for rows of `width` target pixels.
inline constexpr std::size_t line_floats(std::size_t width) noexcept {
  return 2 * (width + 2 * AxisSamples::padding);
}

/// Writes 255 where the interpolated logit is > 0, else 0, for the target pixels columns x rows.
void sample_mask(const LogitGrid& grid, const AxisSamples& x, PixelRange columns,
                 const AxisSamples& y, PixelRange rows, float* lines, ByteRows out);

/// Writes 255 where a logit is > 0, else 0.
void threshold_row(const float* logits, std::size_t count, std::uint8_t* out);

/// Writes round(255 / (1 + e^(-logit * scale))), 0 for NaN. The error before rounding is below
/// 1e-4.
void probability_row(const float* logits, float scale, std::size_t count, std::uint8_t* out);

}  // namespace halyard::decode
