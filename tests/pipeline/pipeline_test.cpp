// SPDX-License-Identifier: Apache-2.0
// The order of frames, overload, pauses, results and times, without networks.
#include "halyard/pipeline.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "sources.h"

namespace halyard::test {
namespace {

using std::chrono::milliseconds;

TEST(Pipeline, runs_in_order_stages_in_order_and_others_side_by_side) {
  PipelineOptions options = options_for(counting_source(400));
  options.in_flight = 8;
  std::vector<std::uint64_t> before, after;
  std::atomic<int> inside{0}, most{0};
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    before.push_back(frame.ordinal);
    return Status();
  }));
  options.stages.push_back({"any", StageOrder::any_order, [&](PipelineFrame& frame) {
                              most = std::max(most.load(), ++inside);
                              std::mt19937 random(static_cast<unsigned>(frame.ordinal));
                              std::this_thread::sleep_for(
                                  std::chrono::microseconds(random() % 300));
                              --inside;
                              return Status();
                            }});
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    EXPECT_EQ(frame.frame.index, frame.ordinal);
    after.push_back(frame.ordinal);
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  ASSERT_EQ(after.size(), 400U);
  EXPECT_EQ(before, after);
  EXPECT_TRUE(std::is_sorted(after.begin(), after.end()));
  EXPECT_GT(most, 1);
  EXPECT_LE(most, 8);
  EXPECT_EQ(stats.sources[0].delivered, 400U);
  EXPECT_EQ(stats.latency.frames, 400U);
  EXPECT_EQ(stats.in_flight, 0U);
}

TEST(Pipeline, keeps_the_order_of_each_of_several_sources) {
  PipelineOptions options;
  for (int i = 0; i < 5; ++i)
    options.sources.push_back(counting_source(100, "source " + std::to_string(i)));
  std::vector<std::vector<std::size_t>> seen(5);
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    EXPECT_EQ(frame.frame.source, "source " + std::to_string(frame.source));
    seen[frame.source].push_back(frame.frame.index);
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(seen[i].size(), 100U);
    EXPECT_TRUE(std::is_sorted(seen[i].begin(), seen[i].end()));
    EXPECT_EQ(stats.sources[i].read, 100U);
    EXPECT_TRUE(stats.sources[i].has_ended);
  }
}

TEST(Pipeline, waits_for_room_by_default) {
  GivenFrames frames;
  frames.give(100);
  Barrier barrier;
  PipelineOptions options = options_for(frames.source());
  options.in_flight = 3;
  options.queue_depth = 2;
  options.stages.push_back(barrier.stage());
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  barrier.wait_for_arrivals(3);
  while (frames.taken() < 5)
    std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(20));  // time to take one too many
  EXPECT_EQ(frames.taken(), 5U);
  EXPECT_EQ(pipeline.stats().in_flight, 3U);
  barrier.open();
  frames.end();
  ASSERT_OK(pipeline.wait());
  EXPECT_EQ(pipeline.stats().sources[0].delivered, 100U);
  EXPECT_EQ(pipeline.stats().sources[0].dropped, 0U);
}

TEST(Pipeline, drops_the_oldest_frame_that_waits) {
  GivenFrames frames;
  Barrier barrier;
  PipelineOptions options = options_for(frames.source());
  options.in_flight = 1;
  options.on_overload = OverloadPolicy::drop_oldest;
  options.stages.push_back(barrier.stage());
  std::vector<std::size_t> seen;
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    seen.push_back(frame.frame.index);
    return Status();
  }));
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  frames.give();
  barrier.wait_for_arrivals(1);
  frames.give(9);
  while (pipeline.stats().sources[0].read < 10)
    std::this_thread::yield();
  barrier.open();
  frames.end();
  ASSERT_OK(pipeline.wait());
  EXPECT_EQ(seen, (std::vector<std::size_t>{0, 9}));
  const SourceStats stats = pipeline.stats().sources[0];
  EXPECT_EQ(stats.dropped, 8U);
  EXPECT_EQ(stats.delivered, 2U);
}

TEST(Pipeline, next_returns_all_results_in_order) {
  PipelineOptions options = options_for(counting_source(50));
  options.has_results = true;
  options.in_flight = 2;
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  std::size_t seen = 0;
  for (;;) {
    auto result = pipeline.next();
    ASSERT_OK(result);
    if (!*result) break;
    EXPECT_EQ((**result)->frame.index, seen++);
  }
  EXPECT_EQ(seen, 50U);
  EXPECT_OK(pipeline.wait());
}

TEST(Pipeline, results_may_outlive_the_pipeline) {
  std::optional<Pipeline::Taken> kept;
  {
    PipelineOptions options = options_for(counting_source(5));
    options.has_results = true;
    auto pipeline = Pipeline::create(std::move(options)).value();
    ASSERT_OK(pipeline.start());
    kept = *pipeline.next().value();
  }
  EXPECT_EQ((*kept)->frame.index, 0U);
  EXPECT_FALSE((*kept)->frame.image.is_empty());
}

TEST(Pipeline, next_tells_a_timeout_and_a_wrong_use) {
  GivenFrames frames;
  PipelineOptions options = options_for(frames.source());
  options.has_results = true;
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  EXPECT_FAILS(pipeline.next(milliseconds(5)), Errc::timeout, "next");
  EXPECT_FAILS(pipeline.start(), Errc::exists, "started before");
  ASSERT_OK(pipeline.stop());
  EXPECT_FALSE(pipeline.next().value());
  auto other = Pipeline::create(options_for(counting_source(1))).value();
  EXPECT_FAILS(other.next(), Errc::invalid_argument, "has_results");
}

TEST(Pipeline, a_paused_live_source_is_read_and_dropped) {
  GivenFrames frames;
  auto pipeline = Pipeline::create(options_for(frames.source(true))).value();
  pipeline.set_paused(true);
  EXPECT_TRUE(pipeline.is_paused());
  ASSERT_OK(pipeline.start());
  frames.give(4);
  while (pipeline.stats().sources[0].read < 4)
    std::this_thread::yield();
  pipeline.set_paused(false);
  frames.give(2);
  while (pipeline.stats().sources[0].delivered < 2)
    std::this_thread::yield();
  frames.end();
  ASSERT_OK(pipeline.wait());
  EXPECT_EQ(pipeline.stats().sources[0].dropped, 4U);
  EXPECT_EQ(pipeline.stats().sources[0].delivered, 2U);
}

TEST(Pipeline, a_paused_file_waits) {
  GivenFrames frames;
  frames.give(4);
  auto pipeline = Pipeline::create(options_for(frames.source())).value();
  pipeline.set_paused(true);
  ASSERT_OK(pipeline.start());
  std::this_thread::sleep_for(milliseconds(10));  // time to take one all the same
  EXPECT_EQ(frames.taken(), 0U);
  pipeline.set_paused(false);
  frames.end();
  ASSERT_OK(pipeline.wait());
  EXPECT_EQ(pipeline.stats().sources[0].delivered, 4U);
}

TEST(Pipeline, times_the_stages_of_each_frame) {
  PipelineOptions options = options_for(counting_source(5));
  options.stages.push_back(in_order([](PipelineFrame&) {
    std::this_thread::sleep_for(milliseconds(3));
    return Status();
  }));
  options.stages.push_back(in_order([](PipelineFrame& frame) {
    EXPECT_EQ(frame.times.size(), 2U);
    EXPECT_STREQ(frame.times[0].stage, "load");
    EXPECT_STREQ(frame.times[1].stage, "test");
    EXPECT_GE(frame.times[1].start.count(), 0);
    EXPECT_GE(frame.times[1].duration, milliseconds(3));
    return Status();
  }));
  const PipelineStats stats = run_all(std::move(options));
  ASSERT_EQ(stats.stages.size(), 7U);
  EXPECT_EQ(stats.stages[5].name, "test");
  EXPECT_EQ(stats.stages[5].frames, 5U);
  EXPECT_GE(stats.stages[5].p50, milliseconds(3));
  EXPECT_GE(stats.latency.max, stats.stages[5].p50);
  EXPECT_GE(stats.elapsed, milliseconds(15));
}

}  // namespace
}  // namespace halyard::test
