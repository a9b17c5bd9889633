// SPDX-License-Identifier: Apache-2.0
// An f16 element as a float. Only what the candidate scan and the box reader need.
#pragma once

#include <bit>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::decode {

/// Bits of positive infinity; larger positive patterns are NaN.
inline constexpr std::uint16_t half_infinity = 0x7C00;

/// Exact: every f16 value is a float.
inline float to_float(Half half) noexcept {
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = half.bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0)
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

}  // namespace halyard::decode
