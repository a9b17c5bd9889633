// SPDX-License-Identifier: Apache-2.0
// Errors of frames, sources and stages, and the ways to end.
#include "halyard/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "sources.h"
#include "support/in_child.h"

namespace halyard::test {
namespace {

using std::chrono::milliseconds;

TEST(PipelineEnd, an_error_of_a_frame_does_not_end_the_run) {
  PipelineOptions options = options_for(counting_source(10));
  std::vector<std::uint64_t> passed, told;
  options.stages.push_back(in_order([&](PipelineFrame& frame) -> Status {
    if (frame.ordinal == 3) return make_error(Errc::device, "stage: broken");
    if (frame.ordinal == 4) throw std::runtime_error("thrown");
    return {};
  }));
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    passed.push_back(frame.ordinal);
    return Status();
  }));
  options.stages.push_back({"told",
                            StageOrder::in_order,
                            [&](PipelineFrame& frame) {
                              if (frame.error) told.push_back(frame.ordinal);
                              return Status();
                            },
                            {},
                            true});
  std::vector<std::string> reports;
  options.on_error = [&](std::string_view what, const Error& error) {
    reports.push_back(std::string(what) + ": " + error.message());
  };
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(passed, (std::vector<std::uint64_t>{0, 1, 2, 5, 6, 7, 8, 9}));
  EXPECT_EQ(told, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(stats.sources[0].failed, 2U);
  EXPECT_EQ(stats.sources[0].delivered, 10U);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0], "test of test 3: stage: broken");
  EXPECT_THAT(reports[1], ::testing::HasSubstr("thrown"));
}

TEST(PipelineEnd, an_error_of_a_source_is_counted_and_read_on) {
  PipelineSource source = counting_source(6);
  source.next = [inner = source.next, call = 0]() mutable -> Result<std::optional<Frame>> {
    if (++call % 3 == 0) return make_error(Errc::corrupt, "image: ends early");
    return inner();
  };
  PipelineOptions options = options_for(std::move(source));
  std::atomic<int> reports{0};
  options.on_error = [&](std::string_view what, const Error& error) {
    EXPECT_EQ(what, "test");
    EXPECT_EQ(error.code, Errc::corrupt);
    ++reports;
  };
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(stats.sources[0].delivered, 6U);
  EXPECT_EQ(stats.sources[0].errors, 3U);
  EXPECT_EQ(reports, 3);
  EXPECT_EQ(stats.sources[0].last_error, "image: ends early");
}

TEST(PipelineEnd, a_source_of_errors_alone_ends) {
  PipelineSource source;
  source.name = "broken";
  source.next = []() -> Result<std::optional<Frame>> {
    return make_error(Errc::device, "camera: is gone");
  };
  PipelineOptions options = options_for(std::move(source));
  options.sources.push_back(counting_source(3));
  options.max_source_errors = 7;
  const PipelineStats stats = run_all(std::move(options));
  EXPECT_EQ(stats.sources[0].errors, 7U);
  EXPECT_TRUE(stats.sources[0].has_ended);
  EXPECT_EQ(stats.sources[1].delivered, 3U);
}

TEST(PipelineEnd, a_stage_that_stops_the_run_ends_it_with_its_error) {
  PipelineOptions options = options_for(counting_source(1'000'000));
  PipelineStage stage = in_order([](PipelineFrame& frame) -> Status {
    if (frame.ordinal == 5) return make_error(Errc::os, "disk: is full");
    return {};
  });
  stage.stops_run = true;
  options.stages.push_back(std::move(stage));
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  EXPECT_FAILS(pipeline.wait(), Errc::os, "disk: is full");
  EXPECT_LT(pipeline.stats().latency.frames, 100U);
}

TEST(PipelineEnd, finishes_the_stages_once_after_the_last_frame) {
  for (const bool is_started : {true, false}) {
    int finished = 0, frames = 0;
    {
      PipelineOptions options = options_for(counting_source(20));
      options.stages.push_back(in_order([&](PipelineFrame&) {
        EXPECT_EQ(finished, 0);
        ++frames;
        return Status();
      }));
      options.stages[0].finish = [&]() -> Status {
        ++finished;
        return make_error(Errc::os, "file: cannot be completed");
      };
      auto pipeline = Pipeline::create(std::move(options)).value();
      if (is_started) {
        ASSERT_OK(pipeline.start());
        EXPECT_FAILS(pipeline.wait(), Errc::os, "file: cannot be completed");
        EXPECT_FAILS(pipeline.drain(), Errc::os, "file: cannot be completed");
      }
    }
    EXPECT_EQ(finished, is_started ? 1 : 0);
    EXPECT_EQ(frames, is_started ? 20 : 0);
  }
}

TEST(PipelineEnd, drain_lets_frames_pass_and_stop_drops_them) {
  for (const bool drains : {true, false}) {
    GivenFrames frames;
    frames.give(50);
    Barrier barrier;
    PipelineOptions options = options_for(frames.source());
    options.in_flight = 2;
    options.queue_depth = 3;
    options.stages.push_back(barrier.stage());
    std::atomic<int> passed{0};
    options.stages.push_back(in_order([&](PipelineFrame&) {
      ++passed;
      return Status();
    }));
    auto pipeline = Pipeline::create(std::move(options)).value();
    ASSERT_OK(pipeline.start());
    barrier.wait_for_arrivals(2);
    while (frames.taken() < 5)
      std::this_thread::yield();
    std::thread opener([&] {
      std::this_thread::sleep_for(milliseconds(20));
      barrier.open();
    });
    EXPECT_OK(drains ? pipeline.drain() : pipeline.stop());
    opener.join();
    const SourceStats stats = pipeline.stats().sources[0];
    EXPECT_EQ(passed, drains ? 5 : 0);
    EXPECT_EQ(stats.delivered, drains ? 5U : 0U);
    EXPECT_EQ(stats.dropped, drains ? 0U : 5U);
    EXPECT_EQ(stats.read, 5U);
  }
}

// As Python's lock: whoever frees the memory takes it, and whoever holds it uses the pipeline.
TEST(PipelineEnd, a_stop_frees_memory_of_the_program_without_a_lock_of_its_own) {
  std::mutex program;
  std::atomic<bool> is_freeing{false};
  std::array<std::uint8_t, 8> bytes{};
  PipelineSource source = counting_source(2);
  source.next = [&, next = source.next]() -> Result<std::optional<Frame>> {
    auto got = next();
    if (!got || !*got) return got;
    auto release = [&] {
      is_freeing = true;
      const std::lock_guard lock(program);
    };
    (**got).image =
        *Tensor::wrap(*wrap_memory(bytes.data(), bytes.size(), release), {DType::u8, {8}});
    return got;
  };
  PipelineOptions options = options_for(std::move(source));
  options.in_flight = 1;
  options.has_results = true;
  auto pipeline = Pipeline::create(std::move(options)).value();
  ASSERT_OK(pipeline.start());
  const auto taken = pipeline.next();
  while (pipeline.stats().sources[0].read < 2)
    std::this_thread::yield();

  std::unique_lock lock(program);
  auto stop = std::async([&] { return pipeline.stop(); });
  while (!is_freeing)
    std::this_thread::yield();
  auto stats = std::async([&] { return pipeline.stats(); });
  EXPECT_EQ(stats.wait_for(std::chrono::seconds(10)), std::future_status::ready);
  lock.unlock();
  EXPECT_OK(stop.get());
  EXPECT_EQ(stats.get().sources[0].dropped, 1U);
}

TEST(PipelineEnd, a_stage_may_request_the_end) {
  PipelineOptions options = options_for(counting_source(1'000'000));
  Pipeline* running = nullptr;
  options.stages.push_back(in_order([&](PipelineFrame& frame) {
    if (frame.ordinal == 10) running->request_drain();
    return Status();
  }));
  auto pipeline = Pipeline::create(std::move(options)).value();
  running = &pipeline;
  ASSERT_OK(pipeline.start());
  ASSERT_OK(pipeline.wait());
  EXPECT_GE(pipeline.stats().latency.frames, 11U);
}

TEST(PipelineEnd, wrong_options_are_named) {
  EXPECT_FAILS(Pipeline::create({}), Errc::invalid_argument, "sources: must be 1..64");
  PipelineOptions options = options_for({});
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "sources: each needs next()");
  options = options_for(counting_source(1));
  options.in_flight = 65;
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "in_flight: must be 1..64");
  options.in_flight = 1;
  options.queue_depth = 0;
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "queue_depth");
  options.queue_depth = 1;
  options.max_source_errors = 0;
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "max_source_errors");
  options.max_source_errors = 1;
  options.stages.push_back({});
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "stages");
  options.stages.clear();
  options.models.push_back({});
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "models");
  options.models.clear();
  options.tracker = ByteTrackOptions{.high_score = 2};
  EXPECT_FAILS(Pipeline::create(options), Errc::invalid_argument, "high_score");
}

TEST(PipelineEnd, a_child_of_fork_cannot_use_it) {
  GivenFrames frames;
  PipelineOptions options = options_for(frames.source());
  options.has_results = true;
  auto pipeline = std::make_unique<Pipeline>(Pipeline::create(std::move(options)).value());
  ASSERT_OK(pipeline->start());
  EXPECT_TRUE(is_true_in_child([&] {
    const bool refuses = !pipeline->next() && !pipeline->wait() && !pipeline->stop();
    pipeline.reset();
    return refuses;
  }));
  EXPECT_OK(pipeline->stop());
}

TEST(PipelineEnd, is_stopped_by_its_destructor_and_by_a_move) {
  GivenFrames first, second;
  auto pipeline = Pipeline::create(options_for(first.source())).value();
  ASSERT_OK(pipeline.start());
  auto other = Pipeline::create(options_for(second.source())).value();
  ASSERT_OK(other.start());
  pipeline = std::move(other);
  second.give(3);
  while (pipeline.stats().sources[0].delivered < 3)
    std::this_thread::yield();
}

}  // namespace
}  // namespace halyard::test
