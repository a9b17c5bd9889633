// SPDX-License-Identifier: Apache-2.0
// Fixed-point taps of the outputs along a row: what all tables of resampling are made of.
#pragma once

#include <cstdint>
#include <memory>

#include "image/cpu/kernels/across.h"
#include "image/cpu/taps.h"

namespace halyard::image {

/// Output x is the sum over t < stride of sample first[x] + t times weights[x * stride + t]. Taps
/// of weight 0 at either end are left out: those behind the last one weigh 0.
struct FixedTaps {
  std::int32_t outputs = 0;
  std::int32_t taps = 1;   ///< most of one output
  std::size_t stride = 2;  ///< even, at least `taps`
  std::unique_ptr<std::int32_t[]> first;
  std::unique_ptr<std::int16_t[]> weights;

  /// Samples are counted from `begin`.
  FixedTaps(const AxisTaps& taps, std::int32_t begin);
  /// Of an axis that is_nearest() or is_between().
  FixedTaps(const AxisRequest& axis, std::int32_t begin);

  const std::int16_t* of(std::size_t x) const noexcept { return weights.get() + x * stride; }
  std::int32_t count(std::size_t x) const noexcept;
};

/// For processors that permute: a table for a row of `samples` of 16 bits, or of bytes (one pair of
/// taps only); an empty one where the samples of 16 outputs lie too far apart.
PermuteTable make_permute(const FixedTaps& outputs, std::int32_t samples, bool bytes);

}  // namespace halyard::image
