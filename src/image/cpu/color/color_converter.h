// SPDX-License-Identifier: Apache-2.0
// ColorConverter: converts rows of source samples to rows of the destination's colour channels.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "image/cpu/kernels/color/color.h"
#include "image/cpu/resample/sampler.h"
#include "image/plan.h"

namespace halyard::image {

/// One row of results per destination channel, in the order of its colour model and with spare
/// samples: codes, or values in signed fixed point within [0, 255].
struct ResultRows {
  std::array<std::uint8_t*, 4> codes{};
  std::array<std::int16_t*, 4> values{};
};

/// Makes the constants of a colour change. `fraction`: fractional bits of the samples, 6 or 7.
ColorSetup make_color_setup(const ColorStep& step, AlphaStep alpha, int fraction, bool codes,
                            bool exact) noexcept;

/// Immutable. Codes are within 1 of the rounded result of ColorStep, values within 0.07 of it;
/// channels that pass through are exact.
class ColorConverter {
 public:
  /// `fraction`: fractional bits of the sampler's rows, 6 or 7. `codes`: makes codes, else values.
  ColorConverter(const Plan& plan, int fraction, bool codes) noexcept;

  /// Number of source channels that are read: 1, 3 or 4.
  static std::size_t needed_channels(const Plan& plan) noexcept;
  /// Number of channels that are made, those of the destination: 1, 3 or 4.
  std::size_t channels() const noexcept { return channels_; }
  const ColorSetup& setup() const noexcept { return setup_; }
  /// Fractional bits of the values: 5, 6 or 7.
  int fraction() const noexcept { return setup_.out_fraction; }
  /// Converts pixels [0, width). May write up to the end of the rows' spare samples.
  void apply(const SampleRows& in, std::int32_t width, const ResultRows& out) const noexcept;

 private:
  /// Fills channel `c` with one code.
  void fill(const ColorJob& job, std::size_t c, int code) const noexcept;
  void copy_first(const ColorJob& job, std::size_t c) const noexcept;

  ColorSetup setup_;
  std::size_t channels_;
  bool keeps_alpha_;
  bool from_grey_;
};

}  // namespace halyard::image
