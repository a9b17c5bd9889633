// SPDX-License-Identifier: Apache-2.0
// Statistics of halyard bench.
#include "bench/bench_times.h"

#include <gtest/gtest.h>

#include <numeric>

namespace halyard::tool {
namespace {

using std::chrono::microseconds;

TEST(Bench_times, percentiles_are_values_at_their_rank) {
  std::vector<double> values(100);
  std::iota(values.rbegin(), values.rend(), 1.0);
  const BenchTimes times = bench_times("model", values);
  EXPECT_EQ(times.stage, "model");
  EXPECT_EQ(times.p50, 50);
  EXPECT_EQ(times.p90, 90);
  EXPECT_EQ(times.p99, 99);
  EXPECT_EQ(times.mean, 50.5);
}

TEST(Bench_times, of_nothing_are_zero) {
  std::vector<double> none;
  const BenchTimes times = bench_times("load", none);
  EXPECT_EQ(times.p50 + times.p90 + times.p99 + times.mean, 0);
}

TEST(Median, is_the_middle_or_the_mean_of_two) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Frame_times, are_split_into_stages_and_what_is_outside) {
  PipelineFrame frame;
  // The pipeline's own "load" includes waiting and is replaced.
  frame.times = {{"load", microseconds(-9000), microseconds(9000)},
                 {"model", microseconds(100), microseconds(3000)},
                 {"track", microseconds(3200), microseconds(500)}};
  FrameTimes times;
  times.add(frame, microseconds(1000), microseconds(4000));
  const auto summary = times.summary();
  const std::vector<std::pair<std::string, double>> wanted = {
      {"load", 1}, {"model", 3}, {"track", 0.5}, {"outside", 0.5}, {"latency", 4}, {"total", 5}};
  ASSERT_EQ(summary.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(summary[i].stage, wanted[i].first);
    EXPECT_DOUBLE_EQ(summary[i].p50, wanted[i].second) << wanted[i].first;
  }
  EXPECT_EQ(find_stage(summary, "model"), &summary[1]);
  EXPECT_EQ(find_stage(summary, "draw"), nullptr);
}

}  // namespace
}  // namespace halyard::tool
