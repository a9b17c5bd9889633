// SPDX-License-Identifier: Apache-2.0
// Fixed-point taps of the outputs along a row; all tables of the horizontal pass are made from
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "image/cpu/kernels/resample/horizontal.h"
#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// With more taps than this, the roundings of 14-bit weights add up: tables then have fine parts
/// too.
inline constexpr std::int32_t few_taps = 16;
/// The same limit where results must be the nearest codes.
inline constexpr std::int32_t few_exact_taps = 2;
/// Bits that the fine parts add.
inline constexpr int fine_bits = 6;

inline std::span<const float> weights_of(const AxisTaps& taps, std::size_t output) noexcept {
  const auto count = static_cast<std::size_t>(taps.count);
  return {taps.weight.data() + output * count, count};
}

/// Converts weights that sum to one to integers with `bits` fractional bits that sum to 2^bits.
/// Each is within one unit of its exact value, for up to 2^bits taps. The rounding error of
/// few_taps or fewer is added to the greatest weight; with more taps it is spread along the row.
/// `out` is as long as `weights`.
void to_fixed(std::span<const float> weights, int bits, std::span<std::int32_t> out);

/// weight = unit * 2^fine_bits + part, parts in [-2^(fine_bits-1), 2^(fine_bits-1)).
inline std::int16_t unit_of(std::int32_t weight) noexcept {
  return static_cast<std::int16_t>((weight + (1 << (fine_bits - 1))) >> fine_bits);
}
inline std::int16_t part_of(std::int32_t weight) noexcept {
  return static_cast<std::int16_t>(weight - unit_of(weight) * (1 << fine_bits));
}

/// Output x is the sum over t < planes of sample first[x] + t times tap(t)[x]. Taps of weight 0 at
/// either end are left out; taps behind the last one have weight 0.
struct FixedTaps {
  std::int32_t outputs = 0;
  std::int32_t taps = 1;   ///< the most taps of one output
  std::size_t planes = 2;  ///< even, at least `taps`
  /// Each output blends at most two neighbouring samples and positions are in order; weights are
  /// not negative, and second weights are below one.
  bool is_between = false;
  std::unique_ptr<std::int32_t[]> first;
  std::unique_ptr<std::int16_t[]> weights;

  /// Samples are counted from `begin`.
  FixedTaps(const AxisTaps& taps, std::int32_t begin);
  /// For an axis that is_nearest(), is_between() or is_antialias().
  FixedTaps(const AxisRequest& axis, std::int32_t begin);

  std::int16_t* tap(std::size_t t) const noexcept {
    return weights.get() + t * static_cast<std::size_t>(outputs);
  }
  std::int32_t count(std::size_t x) const noexcept;

 private:
  void set_nearest(const AxisRequest& axis);
  void set_between(const AxisRequest& axis);
  void set_antialias(const AxisRequest& axis);
};

}  // namespace halyard::image
