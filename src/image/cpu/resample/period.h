// SPDX-License-Identifier: Apache-2.0
// Where the outputs of an axis repeat: few rules of cameras and networks are no simple ratio.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/resample/linear_taps.h"

namespace halyard::image {

struct AxisRequest;

/// Outputs [begin, end) that see no edge: each after the first `length` has the weights of the one
/// `length` before it, of samples that lie `advance` further on. Nothing repeats where `length` is
/// 0. A few outputs at least make a period, so that filling one copies whole vectors.
struct AxisPeriod {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t length = 0;
  std::int32_t advance = 0;  ///< below 0: mirrored
};

/// The axis in its own direction: mirrored ones are reflected about whole samples first, so that
/// the flip comes before the fit for `nearest` too.
Positions positions_of(const AxisRequest& request) noexcept;

/// Exact or none: where begin and length are multiples of 2^-16 samples. `reach`: most samples
/// that an output sees to either side of its centre.
AxisPeriod period_of(const AxisRequest& request, double reach) noexcept;

/// Calls make(begin, end) for the outputs that repeat none, in ascending order; the others lie
/// between the two calls.
template <class Make>
void for_own_outputs(const AxisPeriod& period, std::int32_t outputs, const Make& make) {
  if (period.length == 0) return make(0, outputs);
  make(0, period.begin + period.length);
  make(period.end, outputs);
}

/// Fills in the values of those that repeat, with `moved` added.
template <class T>
void repeat(const AxisPeriod& period, T moved, T* values) {
  if (period.length == 0) return;
  const std::int32_t step = period.length;
  for (std::int32_t at = period.begin + step; at < period.end; at += step) {
    T* to = values + at;
    std::transform(to - step, to - step + std::min(step, period.end - at), to,
                   [moved](T value) { return static_cast<T>(value + moved); });
  }
}

}  // namespace halyard::image
