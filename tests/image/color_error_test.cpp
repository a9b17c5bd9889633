// SPDX-License-Identifier: Apache-2.0
// The greatest errors of the colour kernels, compared with the formulas in double precision.
#include <algorithm>
#include <cmath>

#include "image/cpu/color_rows.h"
#include "images.h"
#include "support/product.h"

namespace halyard::image {
namespace {

using namespace halyard::test;

/// The greatest errors over many pixels: the clamped formula compared with the result.
struct Errors {
  double codes = 0;
  double values = 0;
};

/// Distance from a tie of the formula within which single precision may give the other code.
constexpr double near_tie = 1e-4;
constexpr double exact_codes = 0.5 + near_tie;
constexpr double exact_values = 0.004;  // half a step of 7 fractional bits

/// One way to compute, with both kinds of its results.
struct ColorWay : Conversion {
  ColorWay(const Plan& plan, int in_fraction) : Conversion(plan, in_fraction, 256) {}
  Errors errors;
};

/// Clamped codes in units of 2^-20: integers are fast to compare.
constexpr int wanted_fraction = 20;
using Wanted = std::array<std::array<std::int32_t, 256>, 3>;

template <class T>
double greatest_error(const std::array<std::int32_t, 256>& want, const std::vector<T>& got,
                      int fraction, double worst) {
  std::int32_t greatest = 0;
  for (std::size_t x = 0; x < 256; ++x)
    greatest = std::max(greatest, std::abs((got[x] << (wanted_fraction - fraction)) - want[x]));
  return std::max(worst, std::ldexp(greatest, -wanted_fraction));
}

void judge(ColorWay& way, const Wanted& want) {
  way.run();
  Errors& e = way.errors;
  for (std::size_t c = 0; c < way.channels(); ++c) {
    e.codes = greatest_error(want[c], way.rows.codes[c], 0, e.codes);
    e.values = greatest_error(want[c], way.rows.values[c], way.to_values.fraction(), e.values);
  }
}

/// All codes of the first channel with every `step`-th of the others.
void judge_all(const ColorStep& step, int stride, std::vector<ColorWay>& ways) {
  Wanted want;
  for (int third = 0; third < 256; third += stride) {
    for (int second = 0; second < 256; second += stride) {
      for (int first = 0; first < 256; ++first) {
        const auto x = static_cast<std::size_t>(first);
        const Pixel pixel = step.apply(
            {static_cast<double>(first), static_cast<double>(second), static_cast<double>(third)});
        for (std::size_t c = 0; c < 3; ++c)
          want[c][x] = static_cast<std::int32_t>(
              std::clamp(pixel[c], 0.0, 255.0) * (1 << wanted_fraction) + 0.5);
        for (ColorWay& way : ways) {
          way.rows.in[0][x] = static_cast<std::int16_t>(first << way.fraction);
          way.rows.in[1][x] = static_cast<std::int16_t>(second << way.fraction);
          way.rows.in[2][x] = static_cast<std::int16_t>(third << way.fraction);
        }
      }
      for (ColorWay& way : ways)
        judge(way, want);
    }
  }
}

/// Distance between the codes that are tested, on machines that are not slow.
constexpr int stride_of(int fine) {
  return color_step_size == 1 ? fine : 51;
}

/// The fast mode in both fractions, and the exact mode.
std::vector<ColorWay> all_ways(Plan plan) {
  std::vector<ColorWay> ways;
  for (const bool exact : {false, true}) {
    plan.exact = exact;
    for (const int fraction : {7, 6})
      ways.emplace_back(plan, fraction);
  }
  return ways;
}

void expect_within(const std::vector<ColorWay>& ways, double fast_codes, double fast_values,
                   const std::string& what) {
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const bool exact = i >= 2;
    EXPECT_LE(ways[i].errors.codes, exact ? exact_codes : fast_codes) << what << " way " << i;
    EXPECT_LE(ways[i].errors.values, exact ? exact_values : fast_values) << what << " way " << i;
    ::testing::Test::RecordProperty(what + std::to_string(i) + " codes",
                                    std::to_string(ways[i].errors.codes));
    ::testing::Test::RecordProperty(what + std::to_string(i) + " values",
                                    std::to_string(ways[i].errors.values));
  }
}

// The greatest error is that of BT.2020 limited; include/halyard/image.h documents it.
TEST(ColorError, of_rgb_from_every_yuv_triple_is_as_stated) {
  for (const YuvKind& kind : yuv_kinds) {
    const Plan plan = color_plan(ColorModel::yuv, ColorModel::rgb, kind);
    std::vector<ColorWay> ways = all_ways(plan);
    judge_all(plan.color, color_step_size, ways);
    const bool full = kind.range == ColorRange::full;
    expect_within(ways, full ? 0.54 : 0.57, full ? 0.04 : 0.07, kind.name());
  }
}

TEST(ColorError, of_an_exact_image_at_its_own_size_is_that_of_rounding) {
  Random random(7);
  auto processor = Processor::create({1, ColorimetryMode::exact}).value();
  for (const YuvKind& kind : yuv_kinds) {
    Convert c{.src = random_image(random, 61, 47, PixelFormat::nv24)};
    c.src.set_colorimetry({{}, {}, kind.encoding, kind.range});
    c.dst = zero_image(61, 47, PixelFormat::rgb);
    ASSERT_TRUE(processor.convert(c));
    const ColorStep step = color_plan(ColorModel::yuv, ColorModel::rgb, kind).color;
    for (const auto [y, x] : grid(47, 61)) {
      Pixel in{};
      for (std::size_t k = 0; k < 3; ++k)
        in[k] = code_at(c.src, k, x, y);
      const Pixel want = step.apply(in);
      for (std::size_t k = 0; k < 3; ++k)
        ASSERT_NEAR(code_at(c.dst, k, x, y), std::clamp(want[k], 0.0, 255.0), exact_codes);
    }
  }
}

TEST(ColorError, of_yuv_from_rgb_is_as_stated) {
  for (const YuvKind& kind : yuv_kinds) {
    const Plan plan = color_plan(ColorModel::rgb, ColorModel::yuv, kind, kind);
    std::vector<ColorWay> ways = all_ways(plan);
    judge_all(plan.color, stride_of(5), ways);
    expect_within(ways, 0.53, 0.03, kind.name());
  }
}

TEST(ColorError, of_grey_from_rgb_is_as_stated) {
  const Plan plan = color_plan(ColorModel::rgb, ColorModel::grey);
  std::vector<ColorWay> ways = all_ways(plan);
  judge_all(plan.color, stride_of(3), ways);
  expect_within(ways, 0.53, 0.03, "grey");
}

TEST(ColorError, of_yuv_from_other_yuv_is_as_stated) {
  for (const auto& [in, out] : product(yuv_kinds, yuv_kinds)) {
    const Plan plan = color_plan(ColorModel::yuv, ColorModel::yuv, in, out);
    if (plan.color.same_yuv) continue;
    std::vector<ColorWay> ways = all_ways(plan);
    judge_all(plan.color, stride_of(15), ways);
    expect_within(ways, 0.53, 0.03, in.name() + " to " + out.name());
  }
}

TEST(ColorError, of_luma_to_grey_and_of_grey_to_luma_is_as_stated) {
  for (const auto& [kind, back] : product(yuv_kinds, {false, true})) {
    const Plan plan = back ? color_plan(ColorModel::grey, ColorModel::yuv, kind, kind)
                           : color_plan(ColorModel::yuv, ColorModel::grey, kind, kind);
    std::vector<ColorWay> ways = all_ways(plan);
    judge_all(plan.color, 255, ways);
    expect_within(ways, 0.51, 0.011, kind.name());
  }
}

}  // namespace
}  // namespace halyard::image
