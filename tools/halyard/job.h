// SPDX-License-Identifier: Apache-2.0
// Job: one frame on its way, with the memory it needs. Jobs are recycled, so a running pipeline
// allocates nothing of a frame's size but what the source brings.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "halyard/capture.h"
#include "halyard/decode.h"
#include "halyard/image.h"
#include "halyard/polygon.h"
#include "halyard/rle.h"
#include "halyard/track.h"
#include "output/record.h"

namespace halyard::tool {

/// One stage at a time has it.
struct Job {
  explicit Job(Processor own) : processor(std::move(own)) {}

  // Kept from frame to frame.
  Processor processor;
  Tensor input;     ///< the network's
  Tensor rgb;       ///< the frame before it is resized, where that is asked for
  Decoded decoded;  ///< what the head gave; with masks, boxes are cut at the network's input
  Rle rle;          ///< of one mask
  std::vector<Polygon> polygons;  ///< of one mask
  Tensor canvas;                  ///< upright RGB copy to draw on
  Tensor video_frame;             ///< what the video writer takes

  // This frame's.
  Frame frame;
  FrameRecord record;
  std::vector<Detection> found;  ///< in upright source pixels
  /// Of found, where asked for, in the same pixels.
  MaskSet masks;
  /// The part of the network's input that the image fills, for decoded.masks.
  RegionF content;
  std::vector<Track> tracks;
  std::vector<std::byte> encoded;
  std::string out_path;
  bool has_failed = false;
};

/// Adds the time from construction to destruction to the job's record.
class StageTimer {
 public:
  StageTimer(Job& job, const char* stage) : job_(job), stage_(stage) {}
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;
  ~StageTimer() {
    const std::chrono::duration<double, std::micro> time = Clock::now() - start_;
    job_.record.timing_us.emplace_back(stage_, time.count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  Job& job_;
  const char* stage_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace halyard::tool
