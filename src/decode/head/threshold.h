// SPDX-License-Identifier: Apache-2.0
// The score threshold as the tensor stores it, so that raw values are compared and only survivors
// are dequantized. The choice is always the one that dequantizing first would make.
#pragma once

#include <cstdint>
#include <optional>

#include "halyard/format.h"

namespace halyard::decode {

/// Per-tensor affine quantization, unpacked. Identity for float tensors.
struct Dequantization {
  float scale = 1;
  std::int32_t zero_point = 0;
};

/// (raw - zero point) * scale. Exact difference: raw values have 16 bits at most.
inline float dequantize(float raw, Dequantization affine) noexcept {
  return (raw - static_cast<float>(affine.zero_point)) * affine.scale;
}

/// Smallest stored value of `dtype` (i8, u8, i16, u16) whose real value is >= threshold, which is
/// ceil(threshold / scale + zero point) kept inside the dtype's range; nothing when none reaches
/// it.
std::optional<std::int32_t> quantized_threshold(float threshold, Dequantization affine,
                                                DType dtype) noexcept;

/// Bits of positive infinity; larger positive patterns are NaN.
template <class T>
inline constexpr std::int16_t infinity_bits = 0;
template <>
inline constexpr std::int16_t infinity_bits<Half> = 0x7C00;
template <>
inline constexpr std::int16_t infinity_bits<BFloat16> = 0x7F80;

/// Place among all values of a 16-bit float, 0 for both zeros: ordered as the values are. NaN lies
/// beyond infinity_bits, on either side.
template <class T>
inline std::int16_t ordinal(T value) noexcept {
  const int magnitude = value.bits & 0x7FFF;
  return static_cast<std::int16_t>((value.bits & 0x8000) != 0 ? -magnitude : magnitude);
}

/// The smallest Half or BFloat16 >= threshold; threshold not NaN.
template <class T>
T short_threshold(float threshold) noexcept;

/// Range of the stored values of an integer dtype of at most 16 bits; {0, 0} for others.
struct StoredRange {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};
StoredRange stored_range(DType dtype) noexcept;

}  // namespace halyard::decode
