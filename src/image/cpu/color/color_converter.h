// SPDX-License-Identifier: Apache-2.0
// ColorConverter: from rows of source samples to rows of destination colours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/color.h"
#include "image/cpu/resample/sampler.h"
#include "image/plan.h"

namespace halyard::image {

/// One row of results per destination channel, in the order of its colour model, with spare
/// samples: codes, or values in signed fixed point within [0, 255].
struct ResultRows {
  std::array<std::uint8_t*, 4> codes{};
  std::array<std::int16_t*, 4> values{};
};

/// The constants of a change. `fraction`: of the samples, 6 or 7.
ColorSetup make_color_setup(const ColorStep& step, AlphaStep alpha, int fraction, bool codes,
                            bool exact) noexcept;

/// Immutable once made. Codes are within 1 of ColorStep's result rounded, values within 0.07 of it;
/// channels that pass through are exact.
class ColorConverter {
 public:
  /// `fraction`: of the sampler's rows, 6 or 7. `codes`: whether codes are made, or values.
  ColorConverter(const Plan& plan, int fraction, bool codes) noexcept;

  /// Channels of the source that are looked at: 1, 3 or 4.
  static std::size_t needed_channels(const Plan& plan) noexcept;
  /// Channels that are made, those of the destination: 1, 3 or 4.
  std::size_t channels() const noexcept { return channels_; }
  const ColorSetup& setup() const noexcept { return setup_; }
  /// Fractional bits of the values: 5, 6 or 7.
  int fraction() const noexcept { return setup_.out_fraction; }
  /// Pixels [0, width): may write up to the end of the rows' spare samples.
  void apply(const SampleRows& in, std::int32_t width, const ResultRows& out) const noexcept;

 private:
  /// A channel of one value.
  void fill(const ColorJob& job, std::size_t c, int code) const noexcept;
  void copy_first(const ColorJob& job, std::size_t c) const noexcept;

  ColorSetup setup_;
  std::size_t channels_;
  bool keeps_alpha_;
  bool from_grey_;
};

}  // namespace halyard::image
