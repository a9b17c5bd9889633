// SPDX-License-Identifier: Apache-2.0
// The score threshold in stored values. Raw values are compared and only survivors are dequantized.
// The decision is always the same as after dequantizing.
#pragma once

#include <cstdint>
#include <optional>

#include "halyard/format.h"

namespace halyard::decode {

/// Per-tensor affine quantization. Identity for float tensors.
struct Dequantization {
  float scale = 1;
  std::int32_t zero_point = 0;
};

/// (raw - zero point) * scale. The difference is exact: raw values have at most 16 bits.
inline float dequantize(float raw, Dequantization affine) noexcept {
  return (raw - static_cast<float>(affine.zero_point)) * affine.scale;
}

/// The smallest stored value of `dtype` (i8, u8, i16, u16) whose real value is >= threshold:
/// ceil(threshold / scale + zero point), clamped to the range of the dtype. Empty if no value
/// reaches the threshold.
std::optional<std::int32_t> quantized_threshold(float threshold, Dequantization affine,
                                                DType dtype) noexcept;

/// Bits of positive infinity; larger positive patterns are NaN.
template <class T>
inline constexpr std::int16_t infinity_bits = 0;
template <>
inline constexpr std::int16_t infinity_bits<Half> = 0x7C00;
template <>
inline constexpr std::int16_t infinity_bits<BFloat16> = 0x7F80;

/// Index among all values of a 16-bit float, in the order of the values; 0 for both zeros. The
/// index of NaN is beyond +-infinity_bits.
template <class T>
inline std::int16_t ordinal(T value) noexcept {
  const int magnitude = value.bits & 0x7FFF;
  return static_cast<std::int16_t>((value.bits & 0x8000) != 0 ? -magnitude : magnitude);
}

/// The smallest Half or BFloat16 >= threshold. The threshold must not be NaN.
template <class T>
T short_threshold(float threshold) noexcept;

/// Range of the stored values of an integer dtype of at most 16 bits; {0, 0} for other dtypes.
struct StoredRange {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};
StoredRange stored_range(DType dtype) noexcept;

}  // namespace halyard::decode
