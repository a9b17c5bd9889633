// SPDX-License-Identifier: Apache-2.0
// Fixed-point taps of the outputs along a row: what all tables of resampling are made of.
#pragma once

#include <cstdint>
#include <memory>

#include "image/cpu/kernels/resample/horizontal.h"
#include "image/cpu/resample/taps.h"

namespace halyard::image {

/// Output x is the sum over t < planes of sample first[x] + t times tap(t)[x]. Taps of weight 0 at
/// either end are left out: those behind the last one weigh 0.
struct FixedTaps {
  std::int32_t outputs = 0;
  std::int32_t taps = 1;   ///< most of one output
  std::size_t planes = 2;  ///< even, at least `taps`
  /// Outputs lie one after the other, on one sample or between two: no weight is below 0, no second
  /// one is one.
  bool is_between = false;
  std::unique_ptr<std::int32_t[]> first;
  std::unique_ptr<std::int16_t[]> weights;

  /// Samples are counted from `begin`.
  FixedTaps(const AxisTaps& taps, std::int32_t begin);
  /// Of an axis that is_nearest(), is_between() or is_triangles().
  FixedTaps(const AxisRequest& axis, std::int32_t begin);

  std::int16_t* tap(std::size_t t) const noexcept {
    return weights.get() + t * static_cast<std::size_t>(outputs);
  }
  std::int32_t count(std::size_t x) const noexcept;

 private:
  void set_nearest(const AxisRequest& axis);
  void set_between(const AxisRequest& axis);
  void set_triangles(const AxisRequest& axis);
};

/// For processors that permute: a table for a row of `samples` of 16 bits, or of bytes (one pair of
/// taps only); an empty one where the samples of 16 outputs lie too far apart.
PermuteTable make_permute(const FixedTaps& outputs, std::int32_t samples, bool bytes);

}  // namespace halyard::image
