// SPDX-License-Identifier: Apache-2.0
// Kernel that places the outputs of an axis between two neighbouring samples.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Centres of outputs in samples, in the axis' own direction: begin + (2x + 1) * length / whole.
struct Positions {
  double begin = 0;
  double length = 0;
  double whole = 0;    ///< twice the outputs
  double lowest = 0;   ///< first sample that may be read
  double highest = 0;  ///< one past the last
  double reflect = 0;  ///< of a mirrored axis: sample i of it is sample reflect - i
  bool mirrored = false;
};

/// Two taps of output x: one - second of sample first, second of the next one.
struct LinearTapsOut {
  std::int32_t* first = nullptr;
  std::int32_t* second = nullptr;  ///< [0, one)
};

/// Spare entries that the kernel may store behind the last output.
inline constexpr std::size_t linear_taps_spare = 16;

/// Outputs [begin, end), with weights of `bits` fractional bits, each the nearest one of the single
/// precision weight of the second sample; `balanced`: of that of the lesser one. Two samples or
/// more. Edge samples repeat.
void linear_taps(const Positions& at, std::int32_t begin, std::int32_t end, int bits, bool balanced,
                 const LinearTapsOut& out);

}  // namespace halyard::image
