// SPDX-License-Identifier: Apache-2.0
// The score threshold as the tensor stores it, so that raw values are compared and only survivors
// are dequantized. The choice is always the one that dequantizing first would make.
#pragma once

#include <cstdint>
#include <optional>

#include "halyard/format.h"

namespace halyard::decode {

/// Per-tensor affine quantization, unpacked. Identity for float tensors.
struct Affine {
  float scale = 1;
  std::int32_t zero_point = 0;
};

/// (raw - zero point) * scale. Exact difference: raw values have 16 bits at most.
inline float dequantize(float raw, Affine affine) noexcept {
  return (raw - static_cast<float>(affine.zero_point)) * affine.scale;
}

/// Smallest stored value of `dtype` (i8, u8, i16, u16) whose real value is >= threshold, which is
/// ceil(threshold / scale + zero point) kept inside the dtype's range; nothing when none reaches
/// it.
std::optional<std::int32_t> quantized_threshold(float threshold, Affine affine,
                                                DType dtype) noexcept;

/// Bits of positive infinity as f16; larger positive patterns are NaN.
inline constexpr std::uint16_t half_infinity = 0x7C00;

/// Bits of the smallest f16 >= threshold; threshold in [0, 1].
std::uint16_t half_threshold(float threshold) noexcept;

/// Range of the stored values of an integer dtype of at most 16 bits; {0, 0} for others.
struct StoredRange {
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
};
StoredRange stored_range(DType dtype) noexcept;

}  // namespace halyard::decode
