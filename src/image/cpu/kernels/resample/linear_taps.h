// SPDX-License-Identifier: Apache-2.0
// Kernel: finds the two neighbouring samples of each output of an axis, and their weights.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Positions of outputs, in samples: output x has its centre at begin + (2x + 1) * length / whole.
/// Counted in the axis' own direction.
struct Positions {
  double begin = 0;
  double length = 0;
  double whole = 0;    ///< twice the outputs
  double lowest = 0;   ///< first sample that may be read
  double highest = 0;  ///< one past the last
  double reflect = 0;  ///< mirrored axis: sample i of the axis is sample reflect - i of the source
  bool mirrored = false;
};

/// The two taps of output x: sample first[x] with weight one - second[x], and the next sample with
/// weight second[x].
struct LinearTapsOut {
  std::int32_t* first = nullptr;
  std::int32_t* second = nullptr;  ///< [0, one)
};

/// Spare entries that the kernel may write behind the last output.
inline constexpr std::size_t linear_taps_spare = 16;

/// Makes outputs [begin, end) with weights of `bits` fractional bits. Each weight is the nearest
/// one to the single-precision weight of the second sample; with `balanced`, of the sample with the
/// lesser weight. The axis has two samples or more. Samples at its edges repeat.
void linear_taps(const Positions& at, std::int32_t begin, std::int32_t end, int bits, bool balanced,
                 const LinearTapsOut& out);

}  // namespace halyard::image
