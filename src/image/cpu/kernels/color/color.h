// SPDX-License-Identifier: Apache-2.0
// Row kernels that change colours. Compiled for every instruction set of the architecture and
// chosen at run time; all of them give the same bits.
#pragma once

#include <array>
#include <cstdint>

namespace halyard::image {

enum class ColorChange : std::uint8_t {
  none,  ///< channels are kept as they are
  yuv_to_rgb,
  luma,  ///< YUV to grey: reads and makes the first channel only
  rgb_to_grey,
  rgb_to_yuv,
  grey_to_yuv,  ///< makes the first channel only
  yuv_to_yuv,   ///< to another matrix or range, by one combined matrix
  premultiply,
  unpremultiply,
};

/// Constants for 16-bit arithmetic. From YUV to RGB, coefficients are a quarter of their value with
/// 15 fractional bits, so that 8.7 samples give 8.5 results; for 9.6 samples they are half of it,
/// except bu, which would not fit. All other coefficients are the full value with 15 fractional
/// bits, so that results keep the fraction of the samples. Offsets have the fraction of the
/// samples.
struct FixedColors {
  // From YUV.
  std::int16_t y_offset = 0;
  std::int16_t y_scale = 0;
  std::int16_t rv = 0;
  std::int16_t gu = 0;
  std::int16_t gv = 0;
  std::int16_t bu = 0;
  std::int16_t grey_gain = 0;  ///< luma's scale - 1
  // From R G B to luma, which is grey; then to YUV: Y = luma * (1 + y_gain) + y_bias,
  // U = 128 + (B - luma) * u_scale, V = 128 + (R - luma) * v_scale.
  std::int16_t red = 0;
  std::int16_t green = 0;
  std::int16_t blue = 0;
  std::int16_t y_gain = 0;
  std::int16_t y_bias = 0;
  std::int16_t u_scale = 0;
  std::int16_t v_scale = 0;
  // From YUV to other YUV: weights of the differences u, v from neutral; y_gain and y_bias as
  // above. A channel's own weight is 1 + its gain; the format cannot hold 1.
  std::int16_t y_of_u = 0;
  std::int16_t y_of_v = 0;
  std::int16_t u_gain = 0;
  std::int16_t u_of_v = 0;
  std::int16_t v_of_u = 0;
  std::int16_t v_gain = 0;
};

/// Constants for single precision. Coefficients include the units of both sides: they multiply
/// samples as they are stored and give results as they are stored (codes, or steps of the values).
struct FloatColors {
  float y_offset = 0;  ///< in units of the samples, like `neutral`
  float neutral = 0;
  float y_scale = 0;
  float y_bias = 0;  ///< added to luma, in units of the results
  float rv = 0;
  float gu = 0;
  float gv = 0;
  float bu = 0;
  std::array<std::array<float, 3>, 3> weight{};  ///< of R G B, or of Y U V minus their offsets
  std::array<float, 3> bias{};
  float step = 1;      ///< one step of a sample, in units of the results
  float by_alpha = 0;  ///< `step` divided by the alpha sample of 255
  float tie = 0;       ///< lifts halves so that codes round up; included in the other biases
};

/// A colour change with its constants.
struct ColorSetup {
  ColorChange change = ColorChange::none;
  int in_fraction = 7;   ///< of the samples, 6 or 7
  int out_fraction = 7;  ///< of the values: 7 if exact, else 5 for yuv_to_rgb, else in_fraction
  bool codes = true;     ///< true: makes codes; false: makes values
  bool exact = false;    ///< uses single precision; not for `none`
  FixedColors fixed;
  FloatColors real;
};

/// One row. Samples and results have spare samples; the kernel may write results into these.
struct ColorJob {
  std::array<const std::int16_t*, 4> in{};
  std::array<std::uint8_t*, 4> codes{};   ///< codes ...
  std::array<std::int16_t*, 4> values{};  ///< ... or values within [0, 255]
  std::int32_t width = 0;
};

/// Makes the colour channels. For `none` this is one channel if in[1] is null, else three.
void change_colors(const ColorSetup& setup, const ColorJob& job);
/// Makes channel `c` without a colour change, whatever the setup's change is.
void keep_channel(const ColorSetup& setup, const ColorJob& job, std::size_t c);

}  // namespace halyard::image
