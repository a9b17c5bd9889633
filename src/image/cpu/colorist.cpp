// SPDX-License-Identifier: Apache-2.0
// Colour changes of whole rows: which kernel, with which constants; and the plain way for the rest.
#include "image/cpu/colorist.h"

#include <algorithm>
#include <cmath>

namespace halyard::image {

Colorist::Colorist(const Plan& plan, int fraction, bool codes) noexcept
    : step_(plan.color),
      alpha_(plan.alpha),
      channels_(plan.dst.channels->count),
      in_fraction_(fraction),
      out_fraction_(6),
      codes_(codes),
      exact_(plan.exact) {}

std::size_t Colorist::needed_channels(const Plan& plan) noexcept {
  if (plan.color.from == ColorModel::grey) return 1;
  if (plan.color.from == ColorModel::yuv && plan.color.to == ColorModel::grey) return 1;
  return plan.color.keeps_alpha ? 4 : 3;
}

void Colorist::apply(const SampleRows& in, std::int32_t width,
                     const ResultRows& out) const noexcept {
  const double unit = 1.0 / (1 << in_fraction_);
  for (std::int32_t x = 0; x < width; ++x) {
    Pixel pixel{0, 0, 0, 255};
    for (std::size_t c = 0; c < 4; ++c)
      if (in.channel[c] != nullptr) pixel[c] = in.channel[c][x] * unit;
    pixel = step_.apply(pixel);
    for (std::size_t c = 0; c < channels_; ++c) {
      if (codes_) {
        out.codes[c][x] = round_to_code(pixel[c]);
      } else {
        const double value = std::clamp(pixel[c], 0.0, 255.0);
        out.values[c][x] = static_cast<std::int16_t>(std::lrint(value * (1 << out_fraction_)));
      }
    }
  }
}

}  // namespace halyard::image
