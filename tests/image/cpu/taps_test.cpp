// SPDX-License-Identifier: Apache-2.0
// Filter taps compared with their definitions.
#include "image/cpu/resample/taps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/product.h"

namespace halyard::image {
namespace {

AxisRequest whole(int inputs, int outputs, Filter filter, bool antialias = false) {
  return {0, static_cast<double>(inputs), 0, inputs, outputs, false, filter, antialias};
}

AxisTaps taps_of(const AxisRequest& request) {
  AxisTaps taps;
  make_taps(request, taps);
  return taps;
}

void expect_sound_taps(int inputs, int outputs) {
  SCOPED_TRACE(::testing::Message() << inputs << " to " << outputs);
  for (const auto& [filter, antialias, mirrored] : test::product(
           {Filter::nearest, Filter::bilinear, Filter::bicubic, Filter::lanczos3, Filter::box},
           {false, true}, {false, true})) {
    AxisRequest request = whole(inputs, outputs, filter, antialias);
    request.mirrored = mirrored;
    const AxisTaps taps = taps_of(request);
    for (int x = 0; x < outputs; ++x) {
      const auto begin = taps.weight.begin() + x * taps.count;
      ASSERT_NEAR(std::accumulate(begin, begin + taps.count, 0.0), 1, 1e-5) << x;
      ASSERT_GE(taps.first[x], 0) << x;
      ASSERT_LE(taps.first[x] + taps.count, inputs) << x;
    }
  }
}

TEST(Taps, of_every_kind_sum_to_one_and_stay_inside) {
  for (const auto& [inputs, outputs] : test::product({1, 2, 3, 7, 64}, {1, 2, 5, 64, 200}))
    expect_sound_taps(inputs, outputs);
}

TEST(Taps, that_repeat_sum_to_one_and_stay_inside) {
  for (const int inputs : {40, 41, 47, 64, 130}) {
    for (const int factor : {2, 3, 4, 5, 6, 7})
      expect_sound_taps(inputs, factor * inputs);
    expect_sound_taps(3 * inputs, inputs);
    expect_sound_taps(6 * inputs, 4 * inputs);
  }
}

TEST(Taps, nearest_takes_the_floor_of_the_centre) {
  EXPECT_EQ(taps_of(whole(10, 4, Filter::nearest)).first, (std::vector<std::int32_t>{1, 3, 6, 8}));
}

TEST(Taps, nearest_is_exact_where_a_centre_falls_between_two_samples) {
  for (const int inputs : {500, 49, 1080, 77, 333}) {
    for (int outputs = 1; outputs <= 200; ++outputs) {
      const AxisTaps taps = taps_of(whole(inputs, outputs, Filter::nearest));
      for (int x = 0; x < outputs; ++x)
        ASSERT_EQ(taps.first[x], (2 * x + 1) * inputs / (2 * outputs)) << inputs << " " << outputs;
    }
  }
}

TEST(Taps, nearest_flips_before_it_samples) {
  AxisRequest request = whole(10, 5, Filter::nearest);  // centres on 1, 3, 5, 7, 9
  request.mirrored = true;
  EXPECT_EQ(taps_of(request).first, (std::vector<std::int32_t>{8, 6, 4, 2, 0}));
}

TEST(Taps, bilinear_blends_the_two_samples_about_the_centre) {
  const AxisTaps taps = taps_of(whole(4, 8, Filter::bilinear));
  ASSERT_EQ(taps.count, 2);
  EXPECT_EQ(taps.first, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 2, 2, 2}));
  EXPECT_FLOAT_EQ(taps.weight[2 * 0], 1);  // -0.25 lies outside: the edge repeats
  EXPECT_FLOAT_EQ(taps.weight[2 * 1], 0.75F);
  EXPECT_FLOAT_EQ(taps.weight[2 * 2], 0.25F);
  EXPECT_FLOAT_EQ(taps.weight[2 * 7 + 1], 1);
}

TEST(Taps, antialiased_bilinear_widens_by_the_scale) {
  const AxisTaps taps = taps_of(whole(8, 4, Filter::bilinear, true));
  // Interior output 1: centre 3, triangle of half width 2 on samples 1..4.
  std::vector<float> dense(8, 0);
  for (int t = 0; t < taps.count; ++t)
    dense[static_cast<std::size_t>(taps.first[1] + t)] = taps.weight[taps.count + t];
  const float expected[] = {0, 0.125F, 0.375F, 0.375F, 0.125F, 0, 0, 0};
  for (std::size_t i = 0; i < 8; ++i)
    EXPECT_NEAR(dense[i], expected[i], 1e-6) << i;
}

TEST(Taps, chroma_of_an_odd_crop_sits_between_its_samples) {
  // Luma columns 3..8 of a 2:1 subsampled channel, one output per luma column.
  const AxisRequest request{1.5, 3, 1, 5, 6, false, Filter::bilinear, false};
  const AxisTaps taps = taps_of(request);
  EXPECT_EQ(taps.first[0], 1);  // luma 3: chroma position 1.25
  EXPECT_FLOAT_EQ(taps.weight[1], 0.25F);
  EXPECT_EQ(taps.first[1], 1);  // luma 4: 1.75
  EXPECT_FLOAT_EQ(taps.weight[3], 0.75F);
}

TEST(Taps, mirrored_axes_are_the_reverse_of_the_plain_ones) {
  for (const auto& [filter, antialias] :
       test::product({Filter::bilinear, Filter::bicubic, Filter::lanczos3}, {false, true})) {
    AxisRequest request = whole(31, 12, filter, antialias);
    const AxisTaps plain = taps_of(request);
    request.mirrored = true;
    const AxisTaps mirrored = taps_of(request);
    for (int x = 0; x < 12; ++x) {
      std::vector<double> a(31, 0);
      std::vector<double> b(31, 0);
      for (int t = 0; t < plain.count; ++t) {
        a[plain.first[x] + t] = plain.weight[x * plain.count + t];
        b[mirrored.first[11 - x] + t] = mirrored.weight[(11 - x) * mirrored.count + t];
      }
      for (int i = 0; i < 31; ++i)
        EXPECT_NEAR(a[i], b[i], 1e-6);
    }
  }
}

}  // namespace
}  // namespace halyard::image
