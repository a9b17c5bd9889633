// SPDX-License-Identifier: Apache-2.0
// Finds where the outputs of an axis repeat. Most scale factors from camera to network are simple
// ratios, so that taps repeat after a few outputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/resample/linear_taps.h"

namespace halyard::image {

struct AxisRequest;

/// Outputs [begin, end) that no edge affects. Each after the first `length` has the weights of the
/// one `length` before it; its samples are `advance` further on. Nothing repeats where `length` is
/// 0. A period has a minimum length, so that filling one copies whole vectors.
struct AxisPeriod {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t length = 0;
  std::int32_t advance = 0;  ///< negative on mirrored axes
};

/// The positions of the axis in its own direction. Mirrored axes are reflected about whole samples
/// first, so that the flip comes before the fit for `nearest` too.
Positions positions_of(const AxisRequest& request) noexcept;

/// Returns an exact period or none: begin and length must be multiples of 2^-16 samples. `reach`:
/// the most samples that an output reads to either side of its centre.
AxisPeriod period_of(const AxisRequest& request, double reach) noexcept;

/// Calls make(begin, end) for the outputs that do not repeat others, in ascending order; those that
/// repeat lie between the two calls.
template <class Make>
void for_own_outputs(const AxisPeriod& period, std::int32_t outputs, const Make& make) {
  if (period.length == 0) return make(0, outputs);
  make(0, period.begin + period.length);
  make(period.end, outputs);
}

/// Fills in the values of outputs that repeat: the value one period before, plus `moved`.
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
