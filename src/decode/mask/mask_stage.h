// SPDX-License-Identifier: Apache-2.0
// Converts rows of prototypes of any type and layout to the form that the planar dot products read.
// A staged row stays in the L1 cache while every mask that crosses it uses it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::decode {

/// Part of one row of prototypes in memory, with any strides and alignment.
struct StoredRow {
  const std::byte* data = nullptr;  ///< first pixel, channel 0
  std::ptrdiff_t pixel_stride_bytes = 0;
  std::ptrdiff_t channel_stride_bytes = 0;
  std::size_t pixels = 0;
  std::size_t channels = 0;
  DType dtype = DType::f32;
};

/// Scales for (stored - zero_point) * scale per channel; null for floats.
struct ChannelScales {
  const float* scale = nullptr;
  const float* zero_point = nullptr;
};

/// Writes real values: channel k of pixel x to out[k * stride + x]. Returns whether all are finite.
bool stage_real(const StoredRow& row, const ChannelScales& scales, float* out, std::size_t stride);

/// Subtracted from u16 so that it fits a signed 16-bit integer; 0 for other types.
inline constexpr std::int32_t integer_bias(DType dtype) noexcept {
  return dtype == DType::u16 ? 32768 : 0;
}

/// Writes stored integers minus their bias, with two channels interleaved: channel k of pixel x to
/// out[2 * (k / 2 * stride + x) + k % 2]. A missing last channel is 0.
void stage_pairs(const StoredRow& row, std::int16_t* out, std::size_t stride);

}  // namespace halyard::decode
