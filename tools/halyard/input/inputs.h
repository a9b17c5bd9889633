// SPDX-License-Identifier: Apache-2.0
// Inputs: the frames of all files, folders, videos, cameras and topics of the command line, one
// after the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "halyard/capture.h"
#include "halyard/pipeline.h"
#include "halyard/result.h"

namespace halyard::tool {

/// Only one stage may read it at a time.
class Inputs {
 public:
  /// Opens the first input. With several inputs, next() reports one that cannot be opened; speed
  /// and loops are of the whole list. Errors: as PipelineSource::open().
  static Result<Inputs> open(std::vector<std::string> paths, const FrameSourceOptions& options);

  /// The next frame, counted and timed over all inputs; nullopt at the end. An error concerns one
  /// file; the next call continues after it.
  Result<std::optional<Frame>> next();
  /// The input that the last error of next() concerns.
  const std::string& current() const noexcept { return current_; }

  std::optional<std::size_t> total() const noexcept { return total_; }
  double rate() const noexcept { return rate_; }
  /// The only input is a camera or a topic, whose frames are lost if they are not read.
  bool is_live() const noexcept { return is_live_; }
  /// True if there is exactly one frame.
  bool is_single_image() const noexcept { return total_ == 1; }
  const std::vector<std::string>& paths() const noexcept { return paths_; }

 private:
  Inputs(std::vector<std::string> paths, FrameSourceOptions options)
      : paths_(std::move(paths)), options_(std::move(options)) {}
  void play_list();
  Status advance();
  Result<std::optional<Frame>> timed(Frame frame);
  std::vector<std::string> paths_;
  FrameSourceOptions options_;
  std::optional<PipelineSource> source_;
  std::size_t opened_ = 0;
  std::size_t frames_ = 0;
  bool loops_ = false;
  std::size_t frames_before_pass_ = 0;  // with loops_
  std::optional<FramePacer> pacer_;
  std::chrono::nanoseconds offset_{0};  // of the current source's clock
  std::chrono::nanoseconds last_{0};
  std::optional<std::size_t> total_;
  double rate_ = 0;
  bool is_live_ = false;
  std::string current_;
};

}  // namespace halyard::tool
