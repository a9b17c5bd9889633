// SPDX-License-Identifier: Apache-2.0
// From logits to bytes: the one sampler that every rule goes through, and the sigmoid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/mask/mask_geometry.h"

namespace halyard::decode {

/// Logits of source pixels (x, y) from (left, top) on at data[(y - top) * stride + x - left]. One
/// row and one column past the last sample must be there, with finite values.
struct LogitGrid {
  const float* data = nullptr;
  std::size_t stride = 0;
  std::int32_t left = 0;
  std::int32_t top = 0;
};

/// Bytes of a mask; rows are `stride` bytes apart. May be written up to byte_padding past the end.
struct ByteRows {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
};
inline constexpr std::size_t byte_padding = 64;

/// Floats that `lines` of sample_mask() must hold for rows of so many target pixels.
inline constexpr std::size_t line_floats(std::size_t width) noexcept {
  return 2 * (width + 2 * AxisSamples::padding);
}

/// 255 where the interpolated logit is > 0, else 0, for the target pixels of columns x rows.
void sample_mask(const LogitGrid& grid, const AxisSamples& x, PixelRange columns,
                 const AxisSamples& y, PixelRange rows, float* lines, ByteRows out);

/// 255 where a logit is > 0.
void threshold_row(const float* logits, std::size_t count, std::uint8_t* out);

/// round(255 / (1 + e^(-logit * scale))), NaN to 0: within 1e-4 of the exact value before it is
/// rounded.
void probability_row(const float* logits, float scale, std::size_t count, std::uint8_t* out);

}  // namespace halyard::decode
