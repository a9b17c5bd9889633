// SPDX-License-Identifier: Apache-2.0
// Kernel: weights of the samples under the widened triangle filter (bilinear with antialias).
#pragma once

#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/resample/linear_taps.h"

namespace halyard::image {

/// Output x has `count` taps, samples first[x] and those behind it, whose weights sum to one. Null
/// fields are not made.
struct AntialiasTapsOut {
  std::int32_t* first = nullptr;
  /// Per output: weights in single precision, and in units of 2^-16 for products that are truncated
  /// (VerticalWeights::parts).
  float* weights = nullptr;
  std::uint16_t* parts = nullptr;
  /// Weights with 14 fractional bits, tap by tap, `stride` entries each; first[x] is then the
  /// sample of the first weight that is not 0.
  std::int16_t* fixed = nullptr;
  std::size_t stride = 0;
};

inline constexpr std::int32_t max_antialias_taps = 16;

/// Makes outputs [begin, end) of an axis that shrinks or keeps its size. `count`: twice the scale,
/// rounded up, plus one, or all samples where there are fewer; at most max_antialias_taps. Samples
/// outside of the axis do not count.
void antialias_taps(const Positions& at, std::int32_t begin, std::int32_t end, std::int32_t count,
                    const AntialiasTapsOut& out);

}  // namespace halyard::image
