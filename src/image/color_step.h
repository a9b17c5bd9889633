// SPDX-License-Identifier: Apache-2.0
// ColorStep: converts one pixel from the source's colours to the destination's, in double
// precision.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "halyard/colorimetry.h"
#include "halyard/format.h"

namespace halyard::image {

/// Channels of one pixel as 8-bit codes that are not rounded: R G B A, Y U V, or grey.
using Pixel = std::array<double, 4>;

/// Converts Y'CbCr codes of one colorimetry to another: out = bias + weight (in - offset). There is
/// no RGB and no clamp in between, so that colours outside the RGB gamut are kept. The chroma rows
/// have no weight of Y: greys stay grey.
struct YuvToYuv {
  std::array<double, 3> offset{};
  std::array<std::array<double, 3>, 3> weight{};
  std::array<double, 3> bias{};
};
YuvToYuv yuv_to_yuv(const YuvToRgb& from, const RgbToYuv& to) noexcept;

/// The conversion between the two colour models. The results' colour channels are within [0, 255].
struct ColorStep {
  ColorModel from = ColorModel::rgb;
  ColorModel to = ColorModel::rgb;
  bool same_yuv = false;  ///< yuv -> yuv of one matrix and range: the codes pass through
  bool keeps_alpha = false;
  YuvToRgb from_yuv{};
  RgbToYuv to_yuv{};

  Pixel apply(const Pixel& in) const noexcept;
};

/// Grey: BT.601 luma of full-range R'G'B', whatever the image's colorimetry.
inline double grey_of(const Pixel& rgb) noexcept {
  return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

/// The integer in [0, 255] nearest to `value`; halves round up.
inline std::uint8_t round_to_code(double value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0) + 0.5);
}

}  // namespace halyard::image
