// SPDX-License-Identifier: Apache-2.0
// Lane: the memory of one frame in flight, and where the frame is.
#pragma once

#include <chrono>
#include <cstddef>

#include "halyard/pipeline.h"

namespace halyard::pipeline {

using Clock = std::chrono::steady_clock;

/// One thread at a time uses it: the one that took it from the scheduler.
struct Lane {
  PipelineFrame frame;
  std::size_t next_step = 0;         ///< index of the scheduler's step that the frame enters next
  bool skips_networks = false;       ///< overload
  std::chrono::nanoseconds load{0};  ///< time of the source for the frame

  void fail(const char* stage, const Error& error) {
    if (frame.error) return;
    frame.error = error;
    frame.failed_stage = stage;
  }
};

/// The time of the networks' stages for one frame.
struct NetworkTimes {
  std::chrono::nanoseconds convert{0}, model{0}, decode{0};
};

/// Adds the time from construction to destruction to the frame's times, and to `sum`.
class LaneTimer {
 public:
  LaneTimer(Lane& lane, const char* stage, std::chrono::nanoseconds& sum)
      : lane_(lane), sum_(sum), stage_(stage) {}
  LaneTimer(const LaneTimer&) = delete;
  LaneTimer& operator=(const LaneTimer&) = delete;
  ~LaneTimer() {
    const auto duration = Clock::now() - start_;
    sum_ += duration;
    lane_.frame.times.push_back({stage_, start_ - lane_.frame.read, duration});
  }

 private:
  Lane& lane_;
  std::chrono::nanoseconds& sum_;
  const char* stage_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace halyard::pipeline
