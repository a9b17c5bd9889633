// SPDX-License-Identifier: Apache-2.0
// Colour changes of rows: what stays exact, alpha, and the same bits on every instruction set.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "image/cpu/color_rows.h"
#include "images.h"
#include "support/product.h"

namespace halyard::image {
namespace {

using namespace halyard::test;

constexpr int greatest(int fraction) {
  return fraction == 7 ? 255 << 7 : 32767;
}
constexpr int minimum(int fraction) {
  return fraction == 7 ? 0 : -32768;
}

// Samples as filters make them; `overshoot` is how far outside [0, 255] they may be.
void fill_rows(ColorRows& rows, int fraction, int overshoot, Random& random) {
  const int low = std::max(minimum(fraction), -(overshoot << fraction));
  const int high = std::min(greatest(fraction), (255 + overshoot) << fraction);
  for (auto& row : rows.in) {
    for (auto& sample : row)
      sample = static_cast<std::int16_t>(pick(random, low, high));
  }
}

/// Every colour change.
std::vector<Plan> all_plans(bool exact) {
  constexpr ColorModel models[] = {ColorModel::rgb, ColorModel::yuv, ColorModel::grey};
  std::vector<Plan> plans;
  for (const auto& [from, to] : product(models, models)) {
    plans.push_back(color_plan(from, to, yuv_kinds[3], yuv_kinds[4], exact));
    plans.push_back(color_plan(from, to, yuv_kinds[1], yuv_kinds[1], exact));
  }
  for (const bool keeps : {false, true})
    plans.push_back(alpha_plan(keeps));
  plans.push_back(alpha_plan(true, AlphaStep::premultiply));
  plans.push_back(alpha_plan(true, AlphaStep::unpremultiply));
  return plans;
}

TEST(Color, codes_pass_unchanged_where_no_colours_change) {
  for (const auto& [fraction, model] :
       product({7, 6}, {ColorModel::rgb, ColorModel::yuv, ColorModel::grey})) {
    const Plan plan = color_plan(model, model);
    Conversion way(plan, fraction, 256);
    ColorRows& rows = way.rows;
    for (int code = 0; code < 256; ++code) {
      for (std::size_t c = 0; c < 3; ++c)
        rows.in[c][static_cast<std::size_t>(code)] =
            static_cast<std::int16_t>((c == 1 ? 255 - code : code) << fraction);
    }
    way.run();
    for (const auto [c, x] : grid<std::size_t>(way.channels(), 256)) {
      const int code = static_cast<int>(c == 1 ? 255 - x : x);
      ASSERT_EQ(rows.codes[c][x], code);
      ASSERT_EQ(way.value(c, x), code);
    }
  }
}

TEST(Color, grey_spreads_unchanged_over_red_green_and_blue_with_alpha_255) {
  for (const int fraction : {7, 6}) {
    Plan plan = color_plan(ColorModel::grey, ColorModel::rgb);
    plan.dst.channels = channel_map(PixelFormat::rgba);
    Conversion way(plan, fraction, 256);
    ColorRows& rows = way.rows;
    for (int code = 0; code < 256; ++code)
      rows.in[0][static_cast<std::size_t>(code)] = static_cast<std::int16_t>(code << fraction);
    way.run();
    for (const auto [c, x] : grid<std::size_t>(4, 256)) {
      ASSERT_EQ(rows.codes[c][x], c == 3 ? 255 : x);
      ASSERT_EQ(way.value(c, x), c == 3 ? 255 : x);
    }
  }
}

TEST(Color, full_range_luma_is_grey_both_ways_and_grey_has_neutral_chroma) {
  for (const auto& [exact, back] : product({false, true}, {false, true})) {
    const Plan plan =
        back ? color_plan(ColorModel::grey, ColorModel::yuv, yuv_kinds[0], yuv_kinds[0], exact)
             : color_plan(ColorModel::yuv, ColorModel::grey, yuv_kinds[0], yuv_kinds[0], exact);
    Conversion way(plan, 7, 256);
    ColorRows& rows = way.rows;
    for (int code = 0; code < 256; ++code)
      rows.in[0][static_cast<std::size_t>(code)] = static_cast<std::int16_t>(code << 7);
    way.run();
    for (const auto [c, x] : grid<std::size_t>(way.channels(), 256)) {
      ASSERT_EQ(rows.codes[c][x], c == 0 ? x : 128);
      ASSERT_EQ(way.value(c, x), c == 0 ? x : 128);
    }
  }
}

TEST(Color, new_alpha_is_255_and_kept_alpha_passes) {
  Random random(1);
  for (const bool keeps : {false, true}) {
    Conversion way(alpha_plan(keeps), 7, 200);
    ColorRows& rows = way.rows;
    fill_rows(rows, 7, 0, random);
    way.run();
    for (std::size_t x = 0; x < 200; ++x) {
      const double want = keeps ? rows.sample(x, 7)[3] : 255;
      ASSERT_EQ(rows.codes[3][x], round_to_code(want));
      ASSERT_EQ(way.value(3, x), want);
    }
  }
}

TEST(Color, alpha_steps_follow_their_formulas) {
  Random random(2);
  for (const auto& [step, fraction] :
       product({AlphaStep::premultiply, AlphaStep::unpremultiply}, {7, 6})) {
    Conversion way(alpha_plan(true, step), fraction, 4000);
    ColorRows& rows = way.rows;
    fill_rows(rows, fraction, 40, random);
    for (std::size_t x = 0; x < 4000; x += 3)  // integer codes, with 0 and 255
      rows.in[3][x] = static_cast<std::int16_t>(pick(random, -1, 16) * 16 << fraction);
    for (std::size_t x = 1; x < 4000; x += 7)
      rows.in[3][x] = static_cast<std::int16_t>(255 << fraction);
    way.run();
    for (std::size_t x = 0; x < 4000; ++x) {
      const Pixel in = rows.sample(x, fraction);
      for (std::size_t c = 0; c < 3; ++c) {
        double want = in[c] * in[3] / 255;
        if (step == AlphaStep::unpremultiply) want = in[3] > 0 ? in[c] * 255 / in[3] : 0;
        want = std::clamp(want, 0.0, 255.0);
        ASSERT_NEAR(rows.codes[c][x], want, 0.5001);
        ASSERT_NEAR(way.value(c, x), want, 0.0085);
        if (in[3] == 255) {  // opaque: nothing changes
          ASSERT_EQ(way.value(c, x), std::clamp(in[c], 0.0, 255.0));
        }
      }
    }
  }
}

TEST(Color, halves_go_up_where_colours_are_exact) {
  // Full-range V: 128 + R / 2, without green and blue.
  const ColorConverter color_converter(
      color_plan(ColorModel::rgb, ColorModel::yuv, yuv_kinds[0], yuv_kinds[0], true), 7, true);
  ColorRows rows(128);
  for (std::size_t x = 0; x < 128; ++x)
    rows.in[0][x] = static_cast<std::int16_t>((2 * x + 1) << 7);
  rows.run(color_converter);
  for (std::size_t x = 0; x < 128; ++x)
    ASSERT_EQ(rows.codes[2][x], std::min<std::size_t>(129 + x, 255));
}

TEST(Color, halves_go_up_where_yuv_becomes_exact_rgb) {
  // Full-range BT.601: B = Y + 1.772 (U - 128), whose fraction is a half at U = 128 +- 125.
  for (const int fraction : {7, 6}) {
    const ColorConverter color_converter(
        color_plan(ColorModel::yuv, ColorModel::rgb, yuv_kinds[0], yuv_kinds[0], true), fraction,
        true);
    ColorRows rows(256);
    for (const int chroma : {-125, 125}) {
      for (int y = 0; y < 256; ++y) {
        const auto x = static_cast<std::size_t>(y);
        rows.in[0][x] = static_cast<std::int16_t>(y << fraction);
        rows.in[1][x] = static_cast<std::int16_t>((128 + chroma) << fraction);
        rows.in[2][x] = static_cast<std::int16_t>(128 << fraction);
      }
      rows.run(color_converter);
      for (int y = 0; y < 256; ++y) {
        const int blue = chroma > 0 ? y + 222 : y - 221;  // 221.5 rounds up
        ASSERT_EQ(rows.codes[2][static_cast<std::size_t>(y)], std::clamp(blue, 0, 255)) << y;
      }
    }
  }
}

TEST(Color, samples_between_and_outside_the_codes_are_as_near_as_whole_ones) {
  Random random(3);
  for (const bool exact : {false, true}) {
    for (const Plan& plan : all_plans(exact)) {
      if (plan.alpha != AlphaStep::keep) continue;
      for (const int fraction : {7, 6}) {
        Conversion way(plan, fraction, 3000);
        ColorRows& rows = way.rows;
        fill_rows(rows, fraction, 110, random);
        way.run();
        for (std::size_t x = 0; x < 3000; ++x) {
          const Pixel want = plan.color.apply(rows.sample(x, fraction));
          for (std::size_t c = 0; c < way.channels(); ++c) {
            const double code = std::clamp(want[c], 0.0, 255.0);
            ASSERT_NEAR(rows.codes[c][x], code, exact ? 0.5001 : 0.6);
            ASSERT_NEAR(way.value(c, x), code, 0.1);
          }
        }
      }
    }
  }
}

// Sums that leave the 16 bits must not wrap around.
TEST(Color, the_widest_overshoot_ends_in_the_nearest_bound) {
  for (const Plan& plan : all_plans(false)) {
    if (plan.alpha != AlphaStep::keep) continue;
    Conversion way(plan, 6, 27);
    ColorRows& rows = way.rows;
    // Overshoot as Lanczos gives it on both axes, where its weights sum to 1.24 on the positive
    // side and to -0.24 on the negative side.
    const std::int16_t extremes[] = {-152 * 64, 128 * 64, 407 * 64};
    for (std::size_t x = 0; x < 27; ++x) {
      rows.in[0][x] = extremes[x % 3];
      rows.in[1][x] = extremes[x / 3 % 3];
      rows.in[2][x] = extremes[x / 9];
    }
    way.run();
    for (std::size_t x = 0; x < 27; ++x) {
      const Pixel want = plan.color.apply(rows.sample(x, 6));
      for (std::size_t c = 0; c < way.channels(); ++c) {
        const double code = std::clamp(want[c], 0.0, 255.0);
        ASSERT_NEAR(rows.codes[c][x], code, 0.65);
        ASSERT_NEAR(way.value(c, x), code, 0.15);
        ASSERT_GE(rows.values[c][x], 0);
        ASSERT_LE(rows.values[c][x], 255 << way.to_values.fraction());
      }
    }
  }
}

/// All results of all changes at one width, concatenated.
std::vector<int> results(const std::vector<Plan>& plans, std::size_t width, Random random) {
  std::vector<int> all;
  for (const auto& [plan, fraction] : product(plans, {7, 6})) {
    Conversion way(plan, fraction, width);
    ColorRows& rows = way.rows;
    fill_rows(rows, fraction, 512, random);
    const auto before = rows.in;
    way.run();
    EXPECT_TRUE(rows.guards_stand());
    EXPECT_EQ(rows.in, before);
    for (std::size_t c = 0; c < way.channels(); ++c) {
      all.insert(all.end(), rows.codes[c].begin(),
                 rows.codes[c].begin() + static_cast<std::ptrdiff_t>(width));
      all.insert(all.end(), rows.values[c].begin(),
                 rows.values[c].begin() + static_cast<std::ptrdiff_t>(width));
    }
  }
  return all;
}

TEST(Color, every_instruction_set_gives_the_same_bits_at_every_width_within_the_row) {
  for (const bool exact : {false, true}) {
    const std::vector<Plan> plans = all_plans(exact);
    for (std::size_t width = 1; width <= 65; ++width) {
      const Random random(static_cast<unsigned>(width));
      use_targets(0);
      const std::vector<int> want = results(plans, width, random);
      for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        use_targets(target);
        ASSERT_EQ(results(plans, width, random), want) << hwy::TargetName(target) << " " << width;
      }
      use_targets(0);
    }
  }
}

TEST(Color, needs_no_channel_that_it_does_not_look_at) {
  EXPECT_EQ(ColorConverter::needed_channels(color_plan(ColorModel::grey, ColorModel::rgb)), 1U);
  EXPECT_EQ(ColorConverter::needed_channels(color_plan(ColorModel::yuv, ColorModel::grey)), 1U);
  EXPECT_EQ(ColorConverter::needed_channels(color_plan(ColorModel::rgb, ColorModel::grey)), 3U);
  EXPECT_EQ(ColorConverter::needed_channels(alpha_plan(false)), 3U);
  EXPECT_EQ(ColorConverter::needed_channels(alpha_plan(true)), 4U);
}

}  // namespace
}  // namespace halyard::image
