// SPDX-License-Identifier: Apache-2.0
// WaitingFrame: a frame that has no lane yet. Lane: the memory of one frame in flight, and where
// the frame is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "halyard/capture.h"
#include "halyard/pipeline.h"

namespace halyard::pipeline {

using Clock = std::chrono::steady_clock;

struct WaitingFrame {
  Frame frame;
  std::size_t source = 0;
  Clock::time_point read;
  std::chrono::nanoseconds load{0};
};

/// One thread at a time uses it: the one that took it from the scheduler.
struct Lane {
  PipelineFrame frame;
  std::size_t next_step = 0;         ///< index of the scheduler's step that the frame enters next
  bool skips_networks = false;       ///< overload
  std::chrono::nanoseconds load{0};  ///< time of the source for the frame

  /// Takes the place of the lane's last frame.
  void begin(WaitingFrame waiting, std::uint64_t ordinal) {
    next_step = 0;
    load = waiting.load;
    frame.source = waiting.source;
    frame.ordinal = ordinal;
    frame.frame = std::move(waiting.frame);
    frame.read = waiting.read;
    frame.error.reset();
    frame.failed_stage = "";
    frame.times.clear();
    frame.times.push_back({"load", -load, load});
  }
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
