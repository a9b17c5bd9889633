// SPDX-License-Identifier: Apache-2.0
// Job: one frame in flight, with its memory. Jobs are recycled, so a running pipeline allocates
// nothing of a frame's size, except in the source.
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

/// Only one stage at a time uses it.
struct Job {
  explicit Job(Processor own) : processor(std::move(own)) {}

  // Kept from frame to frame.
  Processor processor;
  Tensor input;     ///< of the network
  Tensor rgb;       ///< the frame before it is resized, if the preset asks for it
  Decoded decoded;  ///< output of the head; with masks, boxes are clipped to the network's input
  Rle rle;          ///< of one mask
  std::vector<Polygon> polygons;  ///< of one mask
  Tensor canvas;                  ///< upright RGB copy to draw on
  Tensor video_frame;             ///< input of the video writer

  // Data of the present frame.
  Frame frame;
  FrameRecord record;
  std::vector<Detection> found;  ///< in upright source pixels
  /// Masks of `found`, if requested, in the same pixels.
  MaskSet masks;
  /// The part of the network's input that the image covers, for decoded.masks.
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
