// SPDX-License-Identifier: Apache-2.0
// PublishedDetections: what the publisher of a topic's frames found in them.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "halyard/detection_message.h"
#include "halyard/geometry.h"
#include "halyard/topic.h"
#include "halyard/track.h"

namespace halyard::tool {

/// Of one frame, in pixels of its upright image.
struct PublishedScene {
  std::vector<Detection> detections;
  std::vector<Track> tracks;  ///< of the detections that have an identity
};

/// Reads NAME/detections, as topic_stage() writes it beside the frames of NAME. Thread-bound.
class PublishedDetections {
 public:
  /// `patience`: how long find() waits, because a frame is sent just before its detections.
  /// Errors: those of Topic::create().
  static Result<PublishedDetections> open(
      const std::string& name, std::chrono::milliseconds patience = std::chrono::milliseconds(50));

  /// What the publisher's first model found in the frame of that time and size, with at least this
  /// score; empty if nothing is known. Waits for it if there was a message before.
  const PublishedScene& find(std::chrono::nanoseconds time, Size size, float score);

 private:
  PublishedDetections(Topic<DetectionMessage> topic, std::chrono::milliseconds patience)
      : topic_(std::move(topic)), patience_(patience) {}
  void receive();
  bool take(std::uint64_t time_ns);
  void fill(Size size, float score);

  Topic<DetectionMessage> topic_;
  std::chrono::milliseconds patience_;
  std::deque<DetectionMessage> recent_;  ///< not asked for yet
  DetectionMessage found_;
  PublishedScene scene_;
  bool has_received_ = false;
};

}  // namespace halyard::tool
