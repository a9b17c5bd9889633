// SPDX-License-Identifier: Apache-2.0
// Colorist: from rows of source samples to rows of destination colours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/sampler.h"
#include "image/plan.h"

namespace halyard::image {

/// One row of results per destination channel, in the order of its colour model, with spare
/// samples: codes, or values in signed fixed point within [0, 255].
struct ResultRows {
  std::array<std::uint8_t*, 4> codes{};
  std::array<std::int16_t*, 4> values{};
};

/// Immutable once made.
class Colorist {
 public:
  /// `fraction`: of the sampler's rows. `codes`: whether codes are made, or values.
  Colorist(const Plan& plan, int fraction, bool codes) noexcept;

  /// Channels of the source that are looked at: 1, 3 or 4.
  static std::size_t needed_channels(const Plan& plan) noexcept;
  /// Channels that are made, those of the destination: 1, 3 or 4.
  std::size_t channels() const noexcept { return channels_; }
  /// Fractional bits of the values.
  int fraction() const noexcept { return out_fraction_; }
  /// Pixels [0, width): may write up to the end of the rows' spare samples.
  void apply(const SampleRows& in, std::int32_t width, const ResultRows& out) const noexcept;

  /// 15 fractional bits on a quarter of each coefficient: 8.7 in, 8.5 out.
  struct FixedMatrix {
    std::int16_t y_offset = 0;  ///< 8.7
    std::int16_t y_scale = 0;
    std::int16_t rv = 0;
    std::int16_t gu = 0;
    std::int16_t gv = 0;
    std::int16_t bu = 0;
  };

 private:
  ColorStep step_;
  AlphaStep alpha_;
  FixedMatrix matrix_;
  std::size_t channels_;
  int in_fraction_;
  int out_fraction_;
  bool codes_;
  bool exact_;
};

}  // namespace halyard::image
