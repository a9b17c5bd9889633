// SPDX-License-Identifier: Apache-2.0
#include "serve/input/published_detections.h"

#include <algorithm>
#include <utility>

namespace halyard::tool {
namespace {

constexpr std::size_t max_waiting = 64;

}  // namespace

Result<PublishedDetections> PublishedDetections::open(const std::string& name,
                                                      std::chrono::milliseconds patience) {
  TopicConfig config;
  config.role = TopicRole::subscriber;
  HALYARD_TRY(auto topic, Topic<DetectionMessage>::create(name + "/detections", config));
  return PublishedDetections(std::move(topic), patience);
}

const PublishedScene& PublishedDetections::find(std::chrono::nanoseconds time, Size size,
                                                float score) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience_;
  scene_.detections.clear();
  scene_.tracks.clear();
  for (;;) {
    receive();
    if (take(static_cast<std::uint64_t>(time.count()))) {
      fill(size, score);
      break;
    }
    const auto left = end - Clock::now();
    if (!has_received_ || left.count() <= 0 || !topic_.wait_for(left)) break;
  }
  return scene_;
}

void PublishedDetections::receive() {
  while (auto message = topic_.recv()) {
    recent_.push_back(*std::move(message));
    has_received_ = true;
  }
  while (recent_.size() > max_waiting)
    recent_.pop_front();
}

/// Messages before the one of that time belong to frames that were not shown.
bool PublishedDetections::take(std::uint64_t time_ns) {
  const auto of_frame =
      std::find_if(recent_.begin(), recent_.end(), [time_ns](const DetectionMessage& message) {
        return message.header.timestamp_ns == time_ns;
      });
  if (of_frame == recent_.end()) return false;
  found_ = std::move(*of_frame);
  recent_.erase(recent_.begin(), of_frame + 1);
  return true;
}

void PublishedDetections::fill(Size size, float score) {
  if (found_.width == 0 || found_.height == 0) return;
  const float x = static_cast<float>(size.width) / static_cast<float>(found_.width);
  const float y = static_cast<float>(size.height) / static_cast<float>(found_.height);
  for (const DetectionEntry& entry : found_.entries) {
    if (!(entry.score >= score)) continue;
    const Box box{entry.box.x1 * x, entry.box.y1 * y, entry.box.x2 * x, entry.box.y2 * y};
    if (entry.track != 0) {
      Track track;
      track.id = entry.track;
      track.box = track.last_box = box;
      track.score = entry.score;
      track.label = entry.label;
      track.detection = static_cast<std::int32_t>(scene_.detections.size());
      scene_.tracks.push_back(track);
    }
    scene_.detections.push_back({box, entry.score, entry.label});
  }
}

}  // namespace halyard::tool
