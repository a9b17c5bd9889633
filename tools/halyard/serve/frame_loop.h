// SPDX-License-Identifier: Apache-2.0
// FrameLoop: reads frames at their own pace, finds and tracks objects in them, and shows them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "halyard/track.h"
#include "input/detector.h"
#include "input/inputs.h"
#include "serve/live_feed.h"
#include "serve/live_stage.h"

namespace halyard::tool {

struct FrameLoopOptions {
  std::vector<std::string> inputs;
  FrameSourceOptions reading;
  bool repeats = true;  ///< begins again at the end
};

/// One thread runs all stages of a frame, then those of the next.
class FrameLoop {
 public:
  /// Borrowed parts must outlive it. Errors: those of opening the inputs and of making a job.
  static Result<std::unique_ptr<FrameLoop>> create(FrameLoopOptions options, Detector detector,
                                                   std::optional<ByteTrack> tracker,
                                                   LiveFeed& feed);
  /// stop().
  ~FrameLoop();
  FrameLoop(const FrameLoop&) = delete;
  FrameLoop& operator=(const FrameLoop&) = delete;

  /// Errors: exhausted (no thread).
  Status start(LiveStage& stage);
  void stop();
  bool has_ended() const noexcept { return has_ended_; }

  // The feed's hooks; thread-safe.
  LiveCounts counts() const;
  Status apply(const LiveControls& controls);

 private:
  FrameLoop(FrameLoopOptions options, Inputs inputs, Detector detector,
            std::optional<ByteTrack> tracker, LiveFeed& feed, std::unique_ptr<Job> job);
  void run(LiveStage& stage);
  Result<bool> next();
  Status step(LiveStage& stage);
  Status follow();
  void wait_for_time();
  LiveFrame numbers();
  void count_stages();

  FrameLoopOptions options_;
  Inputs inputs_;
  Detector detector_;
  std::optional<ByteTrack> tracker_;
  LiveFeed& feed_;
  std::unique_ptr<Job> job_;
  std::atomic<bool> is_stopping_{false}, has_ended_{false};
  std::chrono::steady_clock::time_point began_{}, read_{};
  std::chrono::nanoseconds offset_{0}, last_{0};  ///< of repetitions; of the last frame
  std::uint64_t index_ = 0;
  mutable std::mutex mutex_;  // of the members below
  LiveCounts counts_;
  std::vector<std::pair<std::string, std::vector<double>>> times_;
  std::optional<LiveControls> changed_;
  std::thread thread_;
};

}  // namespace halyard::tool
