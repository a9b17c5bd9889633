// SPDX-License-Identifier: Apache-2.0
// Row kernels that change colours. Compiled for every instruction set of the architecture and
// chosen at run time; all of them give the same bits.
#pragma once

#include <array>
#include <cstdint>

namespace halyard::image {

enum class ColorChange : std::uint8_t {
  none,  ///< channels as they are
  yuv_to_rgb,
  luma,  ///< yuv to grey: the first channel alone
  rgb_to_grey,
  rgb_to_yuv,
  grey_to_yuv,  ///< the first channel alone
  yuv_to_yuv,   ///< of another matrix or range, by one combined matrix
  premultiply,
  unpremultiply,
};

/// For 16-bit arithmetic. Coefficients of the way from YUV to RGB have a quarter of their value in
/// 15 fractional bits, so that 8.7 comes out as 8.5; for samples of 9.6 all but bu, which would not
/// fit, have half. All others have all of it and keep the fraction. Offsets are in the fraction of
/// the samples that they go with.
struct FixedColors {
  // From YUV.
  std::int16_t y_offset = 0;
  std::int16_t y_scale = 0;
  std::int16_t rv = 0;
  std::int16_t gu = 0;
  std::int16_t gv = 0;
  std::int16_t bu = 0;
  std::int16_t grey_gain = 0;  ///< luma's scale - 1
  // Luma of R G B, which is grey; and YUV from there: Y = luma * (1 + y_gain) + y_bias,
  // U = 128 + (B - luma) * u_scale, V = 128 + (R - luma) * v_scale.
  std::int16_t red = 0;
  std::int16_t green = 0;
  std::int16_t blue = 0;
  std::int16_t y_gain = 0;
  std::int16_t y_bias = 0;
  std::int16_t u_scale = 0;
  std::int16_t v_scale = 0;
  // From YUV to other YUV: weights of the differences u, v from neutral, y_gain and y_bias as
  // above. A channel's own weight is 1 and its gain, which the format could not hold as one.
  std::int16_t y_of_u = 0;
  std::int16_t y_of_v = 0;
  std::int16_t u_gain = 0;
  std::int16_t u_of_v = 0;
  std::int16_t v_of_u = 0;
  std::int16_t v_gain = 0;
};

/// For single precision. Coefficients that meet samples have the samples' unit in them, those that
/// make results the results' (one code, or one step of the values).
struct FloatColors {
  float y_offset = 0;  ///< in units of the samples, as `neutral`
  float neutral = 0;
  float y_scale = 0;
  float y_bias = 0;  ///< of luma, in its results
  float rv = 0;
  float gu = 0;
  float gv = 0;
  float bu = 0;
  std::array<std::array<float, 3>, 3> weight{};  ///< of R G B, or of Y U V less their offsets
  std::array<float, 3> bias{};
  float step = 1;      ///< of a sample, in results
  float by_alpha = 0;  ///< one over a colour times alpha 255, times `step`
  float tie = 0;       ///< lifts halves so that codes round up; part of the other biases
};

/// A change with its constants.
struct ColorSetup {
  ColorChange change = ColorChange::none;
  int in_fraction = 7;   ///< of the samples, 6 or 7
  int out_fraction = 7;  ///< of the values: what the change says where nothing is exact
  bool codes = true;     ///< codes are made, or values
  bool exact = false;    ///< single precision; not for `none`
  FixedColors fixed;
  FloatColors real;
};

/// One row. Samples and results have spare samples; results may be written up to their end.
struct ColorJob {
  std::array<const std::int16_t*, 4> in{};
  std::array<std::uint8_t*, 4> codes{};   ///< codes ...
  std::array<std::int16_t*, 4> values{};  ///< ... or values within [0, 255]
  std::int32_t width = 0;
};

/// Makes the colour channels; for `none` all three of RGB or YUV.
void change_colors(const ColorSetup& setup, const ColorJob& job);
/// Makes channel `c` as it is, whatever the change.
void keep_channel(const ColorSetup& setup, const ColorJob& job, std::size_t c);

}  // namespace halyard::image
