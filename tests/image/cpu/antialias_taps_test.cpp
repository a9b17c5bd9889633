// SPDX-License-Identifier: Apache-2.0
// The kernels that make the taps of an axis, on every instruction set, compared with their
// definitions in double precision.
#include "image/cpu/kernels/resample/antialias_taps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cases.h"
#include "each_target.h"
#include "image/cpu/resample/fixed_taps.h"
#include "image/cpu/resample/vertical.h"

namespace halyard::image {
namespace {

using halyard::test::axis;
using halyard::test::for_each_target;

const AxisRequest axes[] = {
    axis(0, 1000, 1000, 639), axis(1.3, 703.7, 709, 222), axis(0, 97, 97, 61),
    axis(0, 40, 40, 6),       axis(0.4, 20.2, 30, 33),    axis(2, 3, 5, 2),
};

/// Weights of all samples of the axis in output `x`.
std::vector<double> triangle(const AxisRequest& r, int x) {
  const double scale = r.length / r.outputs;
  const double width = std::max(scale, 1.0);
  const double place = r.mirrored ? r.outputs - x - 0.5 : x + 0.5;
  std::vector<double> weights(static_cast<std::size_t>(r.highest));
  double sum = 0;
  for (int i = 0; i < r.highest; ++i) {
    const double away = std::abs(i + 0.5 - (r.begin + place * scale)) / width;
    sum += weights[static_cast<std::size_t>(i)] = std::max(0.0, 1 - away);
  }
  for (double& weight : weights)
    weight /= sum;
  return weights;
}

std::vector<double> weights_in(const FixedTaps& taps, std::size_t x, std::size_t samples) {
  std::vector<double> weights(samples);
  for (int t = 0; t < taps.count(x); ++t)
    weights.at(static_cast<std::size_t>(taps.first[x] + t)) =
        taps.tap(static_cast<std::size_t>(t))[x] / double{1 << HorizontalTable::weight_bits};
  return weights;
}

void expect_antialias_taps(const AxisRequest& request) {
  const FixedTaps taps(request, 0);
  for (int x = 0; x < request.outputs; ++x) {
    const auto at = static_cast<std::size_t>(x);
    const std::vector<double> want = triangle(request, x);
    const std::vector<double> have = weights_in(taps, at, want.size());
    int sum = 0;
    for (int t = 0; t < taps.count(at); ++t)
      sum += taps.tap(static_cast<std::size_t>(t))[at];
    ASSERT_EQ(sum, 1 << HorizontalTable::weight_bits) << x;
    ASSERT_NE(taps.tap(0)[at], 0) << "an idle tap in front of output " << x;
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(have[i], want[i], 2e-4) << x << ", sample " << i;
  }
}

TEST(AntialiasTaps, weigh_the_samples_that_they_cover) {
  for (AxisRequest request : axes) {
    request.antialias = true;
    for (const bool mirrored : {false, true}) {
      request.mirrored = mirrored;
      SCOPED_TRACE(::testing::Message() << request.length << " to " << request.outputs);
      ASSERT_TRUE(is_antialias(request));
      for_each_target([&] { expect_antialias_taps(request); });
    }
  }
}

TEST(AntialiasTaps, are_left_to_plain_loops_where_they_cover_many_samples) {
  AxisRequest request = axis(0, 800, 800, 100);
  request.antialias = true;
  EXPECT_FALSE(is_antialias(request));
  request.length = 700;
  EXPECT_TRUE(is_antialias(request));
}

TEST(AntialiasTaps, are_what_rounding_single_weights_gives) {
  for (AxisRequest request : axes) {
    request.antialias = true;
    AxisTaps taps;
    make_taps(request, taps);
    const FixedTaps rounded(taps, 0);
    const FixedTaps direct(request, 0);
    EXPECT_EQ(direct.taps, rounded.taps);
    for (std::size_t x = 0; x < static_cast<std::size_t>(request.outputs); ++x) {
      ASSERT_EQ(direct.first[x], rounded.first[x]) << x;
      ASSERT_EQ(direct.count(x), rounded.count(x)) << x;
      for (std::size_t t = 0; t < static_cast<std::size_t>(direct.taps); ++t)
        ASSERT_EQ(direct.tap(t)[x], rounded.tap(t)[x]) << x << " " << t;
    }
  }
}

/// The greatest of the `parts` of one output, which must have them.
int greatest_part(const VerticalTable& table, std::int32_t output) {
  const VerticalTable::Row row = table.row(output);
  EXPECT_TRUE(row.parts);
  const std::uint16_t* parts = table.weights(row).parts;
  return parts == nullptr ? 0 : *std::max_element(parts, parts + row.count);
}

TEST(VerticalTable, gives_white_its_exact_share_where_products_are_cut_off) {
  constexpr std::uint32_t white = 255U << 8U;
  int rows = 0;
  for (AxisRequest request : axes) {
    request.antialias = true;
    for_each_target([&] {
      const VerticalTable table(request, {true, few_taps, true});
      for (int y = 0; y < request.outputs; ++y) {
        const VerticalTable::Row row = table.row(y);
        if (!row.parts) continue;
        std::uint32_t sum = 0;
        for (int t = 0; t < row.count; ++t)
          sum += table.weights(row).parts[t] * white >> 16U;
        ASSERT_EQ(sum, white) << request.length << " to " << request.outputs << ", row " << y;
        ++rows;
      }
    });
  }
  EXPECT_GT(rows, 100);
}

TEST(VerticalTable, keeps_a_row_that_is_nearly_all_of_an_output) {
  AxisTaps nearly_one{.count = 3, .first = {0}, .weight = {1e-6F, 1 - 2e-6F, 1e-6F}};
  const Blended what{true, few_taps, true};
  EXPECT_EQ(greatest_part(VerticalTable(nearly_one, what), 0), 65535);
  const AxisRequest axis{9.99995, 100.0001, 9, 111, 100, false, Filter::bilinear, true};
  for_each_target([&] { EXPECT_EQ(greatest_part(VerticalTable(axis, what), 49), 65535); });
}

TEST(LinearTaps, are_what_rounding_single_weights_gives) {
  for (AxisRequest request : axes) {
    for (const bool mirrored : {false, true}) {
      request.mirrored = mirrored;
      AxisTaps taps;
      make_taps(request, taps);
      const FixedTaps rounded(taps, 0);
      for_each_target([&] {
        const FixedTaps direct(request, 0);
        for (std::size_t x = 0; x < static_cast<std::size_t>(request.outputs); ++x) {
          ASSERT_EQ(direct.first[x], rounded.first[x]) << x;
          ASSERT_EQ(direct.tap(0)[x], rounded.tap(0)[x]) << x;
          ASSERT_EQ(direct.tap(1)[x], rounded.tap(1)[x]) << x;
        }
      });
    }
  }
}

}  // namespace
}  // namespace halyard::image
