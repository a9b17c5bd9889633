// SPDX-License-Identifier: Apache-2.0
// From the source's colours to the destination's, for one pixel, in double precision.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "halyard/colorimetry.h"
#include "halyard/format.h"

namespace halyard::image {

/// Channels of one pixel as 8-bit codes, not rounded: R G B A, Y U V, or grey.
using Pixel = std::array<double, 4>;

/// Y'CbCr codes of one colorimetry as codes of another: out = bias + weight (in - offset), without
/// RGB or a clamp between, so that what lies outside the RGB gamut stays what it is. The chroma
/// rows have no weight of Y: greys stay grey.
struct YuvToYuv {
  std::array<double, 3> offset{};
  std::array<std::array<double, 3>, 3> weight{};
  std::array<double, 3> bias{};
};
YuvToYuv yuv_to_yuv(const YuvToRgb& from, const RgbToYuv& to) noexcept;

/// What happens between the two colour models. Colour channels come out within [0, 255].
struct ColorStep {
  ColorModel from = ColorModel::rgb;
  ColorModel to = ColorModel::rgb;
  bool same_yuv = false;  ///< yuv -> yuv of one matrix and range: the codes pass through
  bool keeps_alpha = false;
  ColorRange from_range = ColorRange::full;  ///< of a yuv source
  YuvToRgb from_yuv{};
  RgbToYuv to_yuv{};

  Pixel apply(const Pixel& in) const noexcept;
};

/// BT.601 luma of full-range R'G'B', whatever the image's colorimetry: what grey means here.
inline double grey_of(const Pixel& rgb) noexcept {
  return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2];
}

/// The integer in [0, 255] nearest to `value`; halves go up.
inline std::uint8_t round_to_code(double value) noexcept {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0, 255.0) + 0.5);
}

}  // namespace halyard::image
