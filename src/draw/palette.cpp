// SPDX-License-Identifier: Apache-2.0
// Colours for classes and tracks: a table, then hues by the golden angle.
#include "halyard/palette.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

namespace halyard {
namespace {

// Chosen by farthest-point sampling in Oklab among bright, saturated colours. The distance of any
// two is at least 0.11 in Oklab.
constexpr Color table[] = {
    {37, 150, 255},  {255, 140, 26},  {50, 235, 70},   {255, 0, 225},   {0, 150, 30},
    {105, 240, 255}, {165, 90, 135},  {255, 165, 240}, {150, 30, 255},  {240, 225, 75},
    {255, 0, 60},    {120, 195, 120}, {165, 120, 0},   {180, 120, 240}, {240, 105, 165},
    {0, 165, 165},   {75, 90, 255},   {150, 180, 255}, {195, 0, 180},   {0, 255, 180},
};

std::uint8_t encode(double linear) noexcept {
  const double v = std::clamp(linear, 0.0, 1.0);
  const double srgb = v <= 0.0031308 ? 12.92 * v : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(srgb * 255));
}

// Oklab to sRGB, B. Ottosson, "A perceptual color space for image processing" (2020).
Color from_oklch(double lightness, double chroma, double hue) noexcept {
  const double a = chroma * std::cos(hue);
  const double b = chroma * std::sin(hue);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

}  // namespace

Color palette_color(std::uint64_t index) noexcept {
  if (index < std::size(table)) return table[index];
  // The index is reduced by a period, so that the product is exact.
  const auto step = static_cast<double>(index % 100'000);
  const double turns = step * (2 - std::numbers::phi);  // the golden angle, in turns
  const double lightness = 0.62 + 0.10 * static_cast<double>(index % 3);
  return from_oklch(lightness, 0.17, 2 * std::numbers::pi * (turns - std::floor(turns)));
}

}  // namespace halyard
