// SPDX-License-Identifier: Apache-2.0
// Sources, stages and options for tests of Pipeline.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "halyard/pipeline.h"
#include "support/result.h"

namespace halyard::test {

inline constexpr std::chrono::milliseconds frame_time{40};

/// A small grey image whose every pixel is `value`.
inline Tensor grey_image(std::uint8_t value = 0, Size size = {16, 8}) {
  auto image = Tensor::create_image(size, PixelFormat::grey).value();
  auto map = image.map(Access::write).value();
  const auto pixels = map.flat<std::uint8_t>().value();
  std::fill(pixels.begin(), pixels.end(), value);
  return image;
}

inline Frame frame_of(Tensor image, std::size_t index, std::string source = "test") {
  return {std::move(image), std::move(source), index, index * frame_time};
}

/// `count` frames, as fast as they are asked for.
inline PipelineSource counting_source(std::size_t count, std::string name = "test") {
  PipelineSource out;
  out.name = name;
  out.frame_count = count;
  out.next = [count, name, image = grey_image(),
              index = std::size_t{0}]() mutable -> Result<std::optional<Frame>> {
    if (index == count) return std::optional<Frame>();
    return std::optional<Frame>(frame_of(image, index++, name));
  };
  return out;
}

/// Frames that a test gives one by one. Copies share the frames.
class GivenFrames {
 public:
  void give(std::size_t count = 1) {
    const std::lock_guard lock(state_->mutex);
    state_->given += count;
    state_->more.notify_all();
  }
  void end() {
    const std::lock_guard lock(state_->mutex);
    state_->has_ended = true;
    state_->more.notify_all();
  }
  /// How many next() has returned.
  std::size_t taken() const {
    const std::lock_guard lock(state_->mutex);
    return state_->taken;
  }
  PipelineSource source(bool is_live = false) const {
    PipelineSource out;
    out.name = "given";
    out.is_live = is_live;
    out.next = [state = state_] { return next(*state); };
    out.cancel = [state = state_] {
      const std::lock_guard lock(state->mutex);
      state->has_ended = true;
      state->more.notify_all();
    };
    return out;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable more;
    std::size_t given = 0;
    std::size_t taken = 0;
    bool has_ended = false;
    Tensor image = grey_image();
  };
  static Result<std::optional<Frame>> next(State& state) {
    std::unique_lock lock(state.mutex);
    state.more.wait(lock, [&] { return state.taken < state.given || state.has_ended; });
    if (state.taken == state.given) return std::optional<Frame>();
    return std::optional<Frame>(frame_of(state.image, state.taken++));
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A stage that holds each frame until the test opens it.
class Barrier {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  /// Of frames that have arrived.
  std::size_t arrived() {
    const std::lock_guard lock(mutex_);
    return arrived_;
  }
  void wait_for_arrivals(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return arrived_ >= count; });
  }
  PipelineStage stage(StageOrder order = StageOrder::any_order) {
    return {"barrier", order, [this](PipelineFrame&) { return pass(); }};
  }

 private:
  Status pass() {
    std::unique_lock lock(mutex_);
    ++arrived_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return is_open_; });
    return {};
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t arrived_ = 0;
  bool is_open_ = false;
};

inline PipelineOptions options_for(PipelineSource source) {
  PipelineOptions out;
  out.sources.push_back(std::move(source));
  return out;
}

inline PipelineStage in_order(std::function<Status(PipelineFrame&)> run) {
  return {"test", StageOrder::in_order, std::move(run)};
}

/// Starts it and waits for its end.
inline PipelineStats run_all(PipelineOptions options) {
  Pipeline pipeline = Pipeline::create(std::move(options)).value();
  EXPECT_OK(pipeline.start());
  EXPECT_OK(pipeline.wait());
  return pipeline.stats();
}

}  // namespace halyard::test
