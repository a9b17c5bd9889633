// SPDX-License-Identifier: Apache-2.0
#include "pipeline/time_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace halyard::test {
namespace {

using pipeline::TimeHistogram;
using std::chrono::nanoseconds;

TEST(TimeHistogram, is_zero_without_values) {
  const TimeHistogram times;
  EXPECT_EQ(times.count(), 0U);
  EXPECT_EQ(times.percentile(0.5).count(), 0);
  EXPECT_EQ(times.max().count(), 0);
}

TEST(TimeHistogram, is_exact_for_short_times) {
  TimeHistogram times;
  for (int i = 1; i <= 60; ++i)
    times.add(nanoseconds(i));
  EXPECT_EQ(times.percentile(0.5).count(), 30);
  EXPECT_EQ(times.percentile(1).count(), 60);
  EXPECT_EQ(times.percentile(0).count(), 1);
  EXPECT_EQ(times.total().count(), 60 * 61 / 2);
}

TEST(TimeHistogram, finds_percentiles_within_two_percent) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(0, 40);
  TimeHistogram times;
  std::vector<std::int64_t> values;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(static_cast<std::int64_t>(std::exp2(exponent(random))));
    times.add(nanoseconds(values.back()));
  }
  std::sort(values.begin(), values.end());
  for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * 20000.0)) - 1;
    const auto exact = static_cast<double>(values[rank]);
    EXPECT_NEAR(static_cast<double>(times.percentile(share).count()), exact, exact * 0.02 + 0.5)
        << share;
  }
  EXPECT_EQ(times.max().count(), values.back());
}

TEST(TimeHistogram, takes_the_longest_and_negative_times) {
  TimeHistogram times;
  times.add(nanoseconds::max());
  times.add(nanoseconds(-5));
  EXPECT_EQ(times.percentile(0.5).count(), 0);
  EXPECT_EQ(times.max(), nanoseconds::max());
  EXPECT_GT(times.percentile(1), nanoseconds::max() / 100 * 98);
}

}  // namespace
}  // namespace halyard::test
