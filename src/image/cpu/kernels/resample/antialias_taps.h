// SPDX-License-Identifier: Apache-2.0
// Kernel that weighs the samples under the widened triangles of bilinear with antialias.
#pragma once

#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/resample/linear_taps.h"

namespace halyard::image {

/// Of output x: sample first[x] and those behind it, `count` in all, with weights that sum to one.
/// What is null is not made.
struct AntialiasTapsOut {
  std::int32_t* first = nullptr;
  /// Single precision, and as parts of 2^16 of products that are cut off (VerticalWeights); output
  /// by output.
  float* weights = nullptr;
  std::uint16_t* parts = nullptr;
  /// 14 fractional bits, tap by tap, `stride` outputs each; first[x] is that of the first weight
  /// that is not 0.
  std::int16_t* fixed = nullptr;
  std::size_t stride = 0;
};

inline constexpr std::int32_t max_antialias_taps = 16;

/// Outputs [begin, end) that shrink or keep the axis. `count`: the samples of twice the scale,
/// rounded up, and one, or all where there are fewer; up to max_antialias_taps. Samples outside are
/// left out.
void antialias_taps(const Positions& at, std::int32_t begin, std::int32_t end, std::int32_t count,
                    const AntialiasTapsOut& out);

}  // namespace halyard::image
