// SPDX-License-Identifier: Apache-2.0
// The sums of coefficient x prototype, one row of pixels at a time, on vectors.
//
// Floats are added in one order whatever the layout and the vectors: 16 partial sums, partial j
// over channels j, j + 16, ..., first to last; then j + (j + 8), j + (j + 4), j + (j + 2), 0 + 1.
// Integers are exact, so their order does not matter.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::decode {

/// Channels of a coefficient row are zero-padded to a multiple of this.
inline constexpr std::size_t channel_padding = 32;
/// All functions may write so many floats past `count`, and staged rows are so much longer.
inline constexpr std::size_t pixel_padding = 32;

/// Prototypes as planes of pixels: channel k, pixel x at data[k * stride + x]. Reads `count`
/// rounded up to whole vectors.
void dot_planar(const float* data, std::size_t stride, std::size_t channels,
                const float* coefficients, std::size_t count, float* out);

/// The same with pairs of channels side by side: pair p, pixel x at data[2 * (p * stride + x)] and
/// the element after it. Adds `offset`.
void dot_pairs(const std::int16_t* data, std::size_t stride, std::size_t pairs,
               const std::int16_t* coefficients, std::int32_t offset, std::size_t count,
               float* out);

/// Pixels whose channels lie side by side in memory, `stride_bytes` apart, alignment free.
struct PackedRow {
  const std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  std::size_t channels = 0;
};

/// Whether dot_packed() takes this element type (f32, f16; i8, u8, i16 as integers) and count of
/// channels.
bool packs(DType dtype, bool as_integers, std::size_t channels) noexcept;
void dot_packed(const PackedRow& row, DType dtype, const float* coefficients, std::size_t count,
                float* out);
void dot_packed(const PackedRow& row, DType dtype, const std::int16_t* coefficients,
                std::int32_t offset, std::size_t count, float* out);

}  // namespace halyard::decode
