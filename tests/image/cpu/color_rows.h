// SPDX-License-Identifier: Apache-2.0
// Runs rows of samples through a ColorConverter, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "each_target.h"
#include "halyard/colorimetry.h"
#include "image/channels.h"
#include "image/cpu/color/color_converter.h"

namespace halyard::test {

using image::ColorChange;
using image::ColorConverter;
using image::ColorStep;
using image::Pixel;
using image::spare_samples;

/// Slow machines of the test matrix test fewer colours.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
inline constexpr int color_step_size = 15;
#else
inline constexpr int color_step_size = 1;
#endif

struct YuvKind {
  ColorEncoding encoding;
  ColorRange range;
  std::string name() const {
    return std::string(to_string(encoding)) + " " + std::string(to_string(range));
  }
};

inline constexpr YuvKind yuv_kinds[] = {
    {ColorEncoding::bt601, ColorRange::full},  {ColorEncoding::bt601, ColorRange::limited},
    {ColorEncoding::bt709, ColorRange::full},  {ColorEncoding::bt709, ColorRange::limited},
    {ColorEncoding::bt2020, ColorRange::full}, {ColorEncoding::bt2020, ColorRange::limited},
};

/// A plan with only the fields that a ColorConverter reads.
inline image::Plan color_plan(ColorModel from, ColorModel to, YuvKind in = yuv_kinds[1],
                              YuvKind out = yuv_kinds[1], bool exact = false) {
  image::Plan plan{};
  plan.exact = exact;
  plan.color.from = from;
  plan.color.to = to;
  plan.color.from_yuv = yuv_to_rgb(in.encoding, in.range);
  plan.color.to_yuv = rgb_to_yuv(out.encoding, out.range);
  plan.color.same_yuv = in.encoding == out.encoding && in.range == out.range;
  plan.dst.channels = image::channel_map(to == ColorModel::grey  ? PixelFormat::grey
                                         : to == ColorModel::yuv ? PixelFormat::nv24
                                                                 : PixelFormat::rgb);
  return plan;
}

/// The same with alpha in the destination, and in the source where it is kept.
inline image::Plan alpha_plan(bool keeps_alpha, AlphaStep alpha = AlphaStep::keep) {
  image::Plan plan = color_plan(ColorModel::rgb, ColorModel::rgb);
  plan.color.keeps_alpha = keeps_alpha;
  plan.alpha = alpha;
  plan.dst.channels = image::channel_map(PixelFormat::rgba);
  return plan;
}

/// Rows of one width. The memory behind the spare samples of the results is guarded.
class ColorRows {
 public:
  explicit ColorRows(std::size_t width) : width_(width) {
    for (std::size_t c = 0; c < 4; ++c) {
      in[c].assign(width + spare_samples, 0);
      codes[c].assign(width + spare_samples + guard, code_mark);
      values[c].assign(width + spare_samples + guard, value_mark);
    }
  }

  void run(const ColorConverter& color_converter) {
    image::SampleRows samples;
    image::ResultRows results;
    samples.end = static_cast<std::int32_t>(width_);
    for (std::size_t c = 0; c < 4; ++c) {
      samples.channel[c] = in[c].data();
      if (c >= color_converter.channels()) continue;
      results.codes[c] = codes[c].data();
      results.values[c] = values[c].data();
    }
    color_converter.apply(samples, samples.end, results);
  }

  Pixel sample(std::size_t x, int fraction) const {
    Pixel pixel{};
    for (std::size_t c = 0; c < 4; ++c)
      pixel[c] = in[c][x] / static_cast<double>(1 << fraction);
    return pixel;
  }

  bool guards_stand() const {
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t i = width_ + spare_samples; i < codes[c].size(); ++i)
        if (codes[c][i] != code_mark || values[c][i] != value_mark) return false;
    }
    return true;
  }

  std::array<std::vector<std::int16_t>, 4> in;
  std::array<std::vector<std::uint8_t>, 4> codes;
  std::array<std::vector<std::int16_t>, 4> values;

  static constexpr std::uint8_t code_mark = 0xA5;
  static constexpr std::int16_t value_mark = -1234;

 private:
  static constexpr std::size_t guard = 128;
  std::size_t width_;
};

/// Rows through one plan, as codes and as values.
struct Conversion {
  Conversion(const image::Plan& plan, int in_fraction, std::size_t width)
      : fraction(in_fraction),
        to_codes(plan, in_fraction, true),
        to_values(plan, in_fraction, false),
        rows(width) {}
  void run() {
    rows.run(to_codes);
    rows.run(to_values);
  }
  std::size_t channels() const { return to_codes.channels(); }
  double value(std::size_t c, std::size_t x) const {
    return std::ldexp(rows.values[c][x], -to_values.fraction());
  }
  int fraction;  ///< of the samples
  ColorConverter to_codes, to_values;
  ColorRows rows;
};

}  // namespace halyard::test
