// SPDX-License-Identifier: Apache-2.0
// Filter axes whose weights are small whole numbers that recur after a few outputs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// Output x is the sum over t < taps of sample first_of(x) + t times weights_of(x)[t], divided by
/// the sum of those weights. Of all samples from -infinity to infinity: what happens outside
/// [lowest, highest) is said by `repeats`. Only the first and the last output reach there.
struct RationalAxis {
  static constexpr std::int32_t max_period = 8;
  static constexpr std::int32_t max_taps = 6;
  static constexpr std::int32_t max_sum = 128;  ///< sums of bytes stay below 2^15
  using Weights = std::array<std::int8_t, max_taps>;

  std::int32_t period = 1;  ///< 1, 2, 4 or 8: output x + period has the weights of output x ...
  std::int32_t stride = 1;  ///< ... so many samples further on
  std::int32_t taps = 1;    ///< the last ones may be 0
  std::int32_t sum = 1;     ///< of all weights of one output
  std::int32_t lowest = 0;
  std::int32_t highest = 0;
  std::int32_t outputs = 0;
  bool repeats =
      false;  ///< the sample at the edge counts for those outside; else they do not count
  std::array<std::int32_t, max_period> first{};
  std::array<Weights, max_period> weights{};

  std::int32_t first_of(std::int32_t x) const noexcept {
    return first[static_cast<std::size_t>(x % period)] + x / period * stride;
  }
  const Weights& weights_of(std::int32_t x) const noexcept {
    return weights[static_cast<std::size_t>(x % period)];
  }
  /// Of the weights that count: less at edges that lose taps.
  std::int32_t sum_of(std::int32_t x) const noexcept;
};

/// None where an axis is not such: filters with negative weights, mirrored, no short period, no
/// common denominator up to max_sum.
std::optional<RationalAxis> make_rational_axis(const AxisRequest& request);

}  // namespace halyard::image
