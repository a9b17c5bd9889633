// SPDX-License-Identifier: Apache-2.0
// Outputs that are copied from a period equal those that are computed at their own positions.
#include "image/cpu/resample/period.h"

#include <gtest/gtest.h>

#include "cases.h"
#include "image/cpu/resample/fixed_taps.h"
#include "image/cpu/resample/vertical.h"
#include "support/product.h"

namespace halyard::image {
namespace {

using halyard::test::axis;

/// An axis of output `x` alone.
AxisRequest alone(const AxisRequest& request, int x) {
  AxisRequest one = request;
  const int place = request.mirrored ? request.outputs - 1 - x : x;
  one.begin = request.begin + place * request.length / request.outputs;
  one.length = request.length / request.outputs;
  one.outputs = 1;
  return one;
}

FixedTaps fixed(const AxisRequest& request) {
  AxisTaps taps;
  make_taps(request, taps);
  return {taps, 0};
}

/// The weights of sample `first` and of those behind it.
std::vector<int> weights_of_output(const FixedTaps& taps, std::size_t x) {
  std::vector<int> weights;
  for (std::size_t t = 0; t < static_cast<std::size_t>(taps.count(x)); ++t)
    weights.push_back(taps.tap(t)[x]);
  return weights;
}

void expect_own(const FixedTaps& all, const AxisRequest& request) {
  for (int x = 0; x < request.outputs; ++x) {
    const FixedTaps one = fixed(alone(request, x));
    const auto at = static_cast<std::size_t>(x);
    ASSERT_EQ(all.first[at], one.first[0]) << x;
    ASSERT_EQ(weights_of_output(all, at), weights_of_output(one, 0)) << x;
  }
}

/// Axes of few and many samples, with the half samples of chroma; reduced, enlarged and unchanged.
const AxisRequest period_axes[] = {
    axis(0, 1920, 1920, 640),  axis(0, 960, 960, 640),      axis(0, 540, 540, 360),
    axis(0, 1000, 1000, 640),  axis(11, 500, 517, 200),     axis(1.5, 333, 400, 222),
    axis(0.25, 480, 481, 640), axis(0, 64, 64, 512),        axis(3, 700, 703, 100),
    axis(0, 999, 999, 999),    axis(2.5, 1001, 1009, 1001), axis(0, 1001, 1001, 300),
};

TEST(Period, is_found_where_outputs_repeat) {
  const auto expect = [](const AxisRequest& request, int length, int advance) {
    const AxisPeriod period = period_of(request, 1);
    EXPECT_EQ(period.length, length) << request.length << " to " << request.outputs;
    EXPECT_EQ(period.advance, advance) << request.length << " to " << request.outputs;
  };
  expect(axis(0, 1920, 1920, 640), 32, 96);
  expect(axis(0, 540, 540, 360), 32, 48);
  expect(axis(0, 1000, 1000, 640), 32, 50);
  expect(axis(0, 480, 480, 640), 32, 24);
  expect(axis(7.5, 49 * 3, 160, 35 * 5), 50, 42);
  AxisRequest mirrored = axis(0, 540, 540, 360);
  mirrored.mirrored = true;
  expect(mirrored, 32, -48);
}

TEST(Period, is_none_where_outputs_do_not_repeat_exactly_or_often) {
  EXPECT_EQ(period_of(axis(0, 1001, 1001, 300), 1).length, 0);
  EXPECT_EQ(period_of(axis(0.3, 960, 961, 320), 1).length, 0);
  EXPECT_EQ(period_of(axis(0, 960.1, 961, 320), 1).length, 0);
  EXPECT_EQ(period_of(axis(0, 120, 120, 40), 1).length, 0);
  EXPECT_EQ(period_of(axis(0, 640, 640, 320), 400).length, 0) << "all outputs see an edge";
}

TEST(Period, lies_where_no_output_sees_an_edge) {
  for (AxisRequest request : period_axes) {
    for (const auto& [reach, mirrored] : test::product({1.0, 6.5, 40.0}, {false, true})) {
      request.mirrored = mirrored;
      const AxisPeriod period = period_of(request, reach);
      if (period.length == 0) continue;
      const double scale = request.length / request.outputs;
      const Positions at = positions_of(request);
      EXPECT_GE(at.begin + period.begin * scale, at.lowest + reach);
      EXPECT_LE(at.begin + period.end * scale, at.highest - reach);
      EXPECT_LE(period.end, request.outputs);
    }
  }
}

TEST(Period, fills_in_what_each_output_would_be_by_itself) {
  int periods = 0;
  for (AxisRequest request : period_axes) {
    for (const auto& [filter, kind] : test::product(test::all_filters, {0, 1, 2, 3})) {
      request.filter = filter;
      request.antialias = kind % 2 != 0;
      request.mirrored = kind / 2 != 0;
      SCOPED_TRACE(::testing::Message() << request.length << " to " << request.outputs << " filter "
                                        << static_cast<int>(filter) << " " << kind);
      AxisTaps taps;
      make_taps(request, taps);
      periods += taps.period.length != 0 ? 1 : 0;
      expect_own(FixedTaps(taps, 0), request);
      if (is_between(request) || is_nearest(request) || is_antialias(request))
        expect_own(FixedTaps(request, 0), request);
    }
  }
  EXPECT_GT(periods, 100);
}

TEST(Period, gives_rows_what_they_would_be_by_themselves) {
  for (AxisRequest request : period_axes) {
    for (const int kind : {0, 1, 2, 3}) {
      request.antialias = kind % 2 != 0;
      request.mirrored = kind / 2 != 0;
      const Blended what{true, few_taps, true};
      const VerticalTable all(request, what);
      for (int y = 0; y < request.outputs; ++y) {
        const VerticalTable one(alone(request, y), what);
        const VerticalTable::Row row = all.row(y);
        ASSERT_EQ(row.first, one.row(0).first) << y;
        ASSERT_EQ(row.count, one.row(0).count) << y;
        ASSERT_EQ(row.second, one.row(0).second) << y;
        ASSERT_EQ(row.parts, one.row(0).parts) << y;
        for (int t = 0; row.parts && t < row.count; ++t)
          ASSERT_EQ(all.weights(row).parts[t], one.weights(one.row(0)).parts[t]) << y;
      }
    }
  }
}

}  // namespace
}  // namespace halyard::image
