// SPDX-License-Identifier: Apache-2.0
// Integer-ratio axes: filter weights that are small integers and repeat after a few outputs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// Output x is the sum over t < taps of sample first_of(x) + t times weights_of(x)[t], divided by
/// the sum of those weights. Samples extend from -infinity to infinity; `repeats` defines those
/// outside [lowest, highest). Only the first and the last output reach there.
struct RationalAxis {
  static constexpr std::int32_t max_period = 8;
  static constexpr std::int32_t max_taps = 6;
  static constexpr std::int32_t max_sum = 128;  ///< sums of bytes stay below 2^15
  using Weights = std::array<std::int8_t, max_taps>;

  std::int32_t period = 1;  ///< 1, 2, 4 or 8: output x + period has the weights of output x ...
  std::int32_t stride = 1;  ///< ... for samples this far further on
  std::int32_t taps = 1;    ///< the last ones may be 0
  std::int32_t sum = 1;     ///< sum of all weights of one output
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
  std::int32_t outputs = 0;
  bool repeats = false;  ///< samples outside are the edge sample; false: they do not count
  std::array<std::int32_t, max_period> first{};
  std::array<Weights, max_period> weights{};

  std::int32_t first_of(std::int32_t x) const noexcept {
    return first[static_cast<std::size_t>(x % period)] + x / period * stride;
  }
  const Weights& weights_of(std::int32_t x) const noexcept {
    return weights[static_cast<std::size_t>(x % period)];
  }
  /// The sum of the weights that count: less at edges that lose taps.
  std::int32_t sum_of(std::int32_t x) const noexcept;
};

/// Returns none if the axis has negative weights, is mirrored, has no short period, or no common
/// denominator up to max_sum.
std::optional<RationalAxis> make_rational_axis(const AxisRequest& request);

}  // namespace halyard::image
