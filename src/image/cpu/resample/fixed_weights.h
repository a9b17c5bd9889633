// SPDX-License-Identifier: Apache-2.0
// Filter weights in fixed point.
#pragma once

#include <cstdint>
#include <span>

#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// Above so many taps the roundings of 14-bit weights add up: their tables have fine parts too.
inline constexpr std::int32_t few_taps = 16;
/// The same where results shall be the nearest codes.
inline constexpr std::int32_t few_exact_taps = 2;
/// Bits that the fine parts add.
inline constexpr int fine_bits = 6;

inline std::span<const float> weights_of(const AxisTaps& taps, std::size_t output) noexcept {
  const auto count = static_cast<std::size_t>(taps.count);
  return {taps.weight.data() + output * count, count};
}

/// Weights that sum to one as integers of `bits` fractional bits that sum to 2^bits. Each is within
/// one unit of its own for up to 2^bits taps; what rounding leaves goes to the greatest of few, and
/// along the row of many. `out` is as long as `weights`.
void to_fixed(std::span<const float> weights, int bits, std::span<std::int32_t> out);

/// weight = unit * 2^fine_bits + part, parts in [-2^(fine_bits-1), 2^(fine_bits-1)).
inline std::int16_t unit_of(std::int32_t weight) noexcept {
  return static_cast<std::int16_t>((weight + (1 << (fine_bits - 1))) >> fine_bits);
}
inline std::int16_t part_of(std::int32_t weight) noexcept {
  return static_cast<std::int16_t>(weight - unit_of(weight) * (1 << fine_bits));
}

}  // namespace halyard::image
