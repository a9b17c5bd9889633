// SPDX-License-Identifier: Apache-2.0
// Sums of coefficient x prototype with vectors, one row of pixels at a time.
//
// Floats are added in the same order for all layouts and vectors: 16 partial sums, where partial j
// covers channels j, j + 16, ... in ascending order; then j + (j + 8), j + (j + 4), j + (j + 2), 0
// + 1. Integers are exact, so their order does not matter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::decode {

/// Channels of a coefficient row are zero-padded to a multiple of this.
inline constexpr std::size_t channel_padding = 32;
/// All functions may write this many floats past `count`. Staged rows are longer by this many.
inline constexpr std::size_t pixel_padding = 32;

/// Prototypes as planes of pixels: channel k of pixel x is at data[k * stride + x]. Reads `count`
/// pixels, rounded up to whole vectors.
void dot_planar(const float* data, std::size_t stride, std::size_t channels,
                const float* coefficients, std::size_t count, float* out);

/// As dot_planar(), with two channels interleaved: pair p of pixel x is at data[2 * (p * stride +
/// x)] and the next element. Adds `offset`.
void dot_pairs(const std::int16_t* data, std::size_t stride, std::size_t pairs,
               const std::int16_t* coefficients, std::int32_t offset, std::size_t count,
               float* out);

/// Pixels with adjacent channels, `stride_bytes` apart, of any alignment.
struct PackedRow {
  const std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t channels = 0;
};

/// Whether dot_packed() supports this element type (f32, f16; as integers i8, u8, i16) and number
/// of channels.
bool packs(DType dtype, bool as_integers, std::size_t channels) noexcept;
void dot_packed(const PackedRow& row, DType dtype, const float* coefficients, std::size_t count,
                float* out);
void dot_packed(const PackedRow& row, DType dtype, const std::int16_t* coefficients,
                std::int32_t offset, std::size_t count, float* out);

}  // namespace halyard::decode
