// SPDX-License-Identifier: Apache-2.0
// Fixed-point taps of one output along a row: what all tables of resampling are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "image/cpu/kernels/across.h"
#include "image/cpu/taps.h"

namespace halyard::image {

/// Without taps of weight 0 at either end; at least one.
struct TapSpan {
  std::int32_t first = 0;
  std::span<const std::int32_t> weights;
  std::int32_t count() const noexcept { return static_cast<std::int32_t>(weights.size()); }
  /// 0 behind the last.
  std::int16_t weight(std::size_t tap) const noexcept {
    return static_cast<std::int16_t>(tap < weights.size() ? weights[tap] : 0);
  }
};

/// Those of all outputs, in one piece of memory.
class TapSpans {
 public:
  /// Samples are counted from `begin`.
  TapSpans(const AxisTaps& taps, std::int32_t begin);
  std::size_t size() const noexcept { return parts_.size(); }
  TapSpan operator[](std::size_t x) const noexcept {
    const Part& part = parts_[x];
    return {part.first, {weights_.data() + part.at, static_cast<std::size_t>(part.count)}};
  }

 private:
  struct Part {
    std::int32_t first;
    std::int32_t count;
    std::size_t at;
  };
  std::vector<Part> parts_;
  std::vector<std::int32_t> weights_;
};

/// For processors that permute: a table for a row of `samples` of 16 bits, or of bytes (one pair of
/// taps only); an empty one where the samples of 16 outputs lie too far apart. `taps`: most of one
/// output.
PermuteTable make_permute(const TapSpans& outputs, std::int32_t taps, std::int32_t samples,
                          bool bytes);

}  // namespace halyard::image
