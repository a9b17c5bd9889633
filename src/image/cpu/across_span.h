// SPDX-License-Identifier: Apache-2.0
// Fixed-point taps of one output along a row: what all tables of resampling are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "image/cpu/kernels/across.h"

namespace halyard::image {

/// Without taps of weight 0 at either end; at least one.
struct TapSpan {
  std::int32_t first = 0;
  std::vector<std::int32_t> weights;
  std::int32_t count() const noexcept { return static_cast<std::int32_t>(weights.size()); }
  /// 0 behind the last.
  std::int16_t weight(std::size_t tap) const noexcept {
    return static_cast<std::int16_t>(tap < weights.size() ? weights[tap] : 0);
  }
};

/// For processors that permute: a table for a row of `samples` of 16 bits, or of bytes (one pair of
/// taps only); an empty one where the samples of 16 outputs lie too far apart. `taps`: most of one
/// output.
PermuteTable make_permute(std::span<const TapSpan> outputs, std::int32_t taps, std::int32_t samples,
                          bool bytes);

}  // namespace halyard::image
