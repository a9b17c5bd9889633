// SPDX-License-Identifier: Apache-2.0
// LiveFeed: what the live view shows: numbers of frames, the newest image, and the controls. The
// frames' side writes it, the server's side reads it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/geometry.h"
#include "halyard/result.h"

namespace halyard::tool {

/// What a viewer can change.
struct LiveControls {
  float score = 0.25F;  ///< least score of a detection, 0..1
  float iou = 0.45F;    ///< overlap above which a detection is suppressed, 0..1
  bool is_paused = false;
  bool has_boxes = true;
  bool has_masks = true;
  bool has_tracks = true;
  friend bool operator==(const LiveControls&, const LiveControls&) = default;
};

/// A stage of one frame.
struct StageSpan {
  std::string name;
  double start_us = 0;  ///< since the frame was read
  double duration_us = 0;
};

/// The numbers of one frame.
struct LiveFrame {
  std::uint64_t index = 0;
  std::chrono::steady_clock::time_point read;  ///< when it was read
  Size size;                                   ///< of the upright image
  std::vector<StageSpan> stages;
  std::vector<std::int32_t> labels;                              ///< of its detections
  std::size_t tracks = 0;                                        ///< seen in it
  std::optional<std::pair<std::int32_t, float>> top_class = {};  ///< of a classification network
};

/// Counts since the start, from whatever runs the frames.
struct LiveCounts {
  struct Stage {
    std::string name;
    double p50_us = 0;
    double p99_us = 0;
  };
  std::uint64_t read = 0;
  std::uint64_t dropped = 0;  ///< came faster than they were served
  std::uint64_t skipped = 0;  ///< passed the network by
  std::uint64_t failed = 0;   ///< damaged, or a stage failed
  std::uint64_t copies = 0;   ///< of images, by the library
  std::uint64_t copied_bytes = 0;
  std::vector<Stage> stages;
  double latency_p50_us = 0;
  double latency_p99_us = 0;
  bool has_ended = false;
  std::string last_error;
};

/// What does not change while the program runs.
struct LiveSource {
  std::string name;
  bool has_model = false;      ///< a network of this process sees the frames
  bool has_published = false;  ///< what was found in the frames comes with them
  bool has_tracker = false;
  bool has_masks = false;
  std::vector<std::string> labels;
};

/// Thread-safe.
class LiveFeed {
 public:
  struct Hooks {
    std::function<LiveCounts()> counts = {};
    /// Called for each change, before controls() shows it. An error keeps the old controls.
    std::function<Status(const LiveControls&)> apply = {};
  };
  explicit LiveFeed(LiveSource source, LiveControls controls = {})
      : source_(std::move(source)), controls_(controls) {}

  /// Before the server starts, and an empty one before what they call ends.
  void set_hooks(Hooks hooks);
  const LiveSource& source() const noexcept { return source_; }

  LiveControls controls() const;
  /// Errors: those of the hook; invalid_argument (a score or IoU outside 0..1).
  Status change(const LiveControls& controls);

  void add(LiveFrame frame);
  /// Shared, so that a viewer keeps the image that it is being sent.
  void set_image(std::shared_ptr<const std::string> jpeg);
  /// The newest image, for a snapshot: null if there is none of the last two seconds, unless
  /// frames have stopped. Asks for one: wants_image() is true for the next five seconds.
  std::shared_ptr<const std::string> ask_image();
  bool wants_image() const;
  /// No more frames come.
  void set_ended();

  /// A moment of the feed.
  struct State {
    LiveControls controls;
    LiveCounts counts;
    std::uint64_t frames = 0;  ///< that have passed
    double rate = 0;           ///< frames per second, over the last two seconds
    Size size;
    std::map<std::int32_t, std::size_t> objects;  ///< detections of the last frame, by label
    std::size_t tracks = 0;
    std::optional<std::pair<std::int32_t, float>> top_class;
    std::vector<LiveFrame> recent;  ///< newest last
    std::chrono::steady_clock::time_point began;
    bool has_ended = false;
  };
  /// `recent` holds up to `frames` frames.
  State state(std::size_t frames) const;

 private:
  LiveSource source_;
  mutable std::mutex hook_mutex_;  // held while a hook runs; taken before mutex_
  Hooks hooks_;
  mutable std::mutex mutex_;
  LiveControls controls_;
  std::deque<LiveFrame> recent_;
  std::deque<std::chrono::steady_clock::time_point> passed_;
  std::uint64_t frames_ = 0;
  std::shared_ptr<const std::string> image_;
  std::chrono::steady_clock::time_point image_made_{}, image_asked_{};
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  bool has_ended_ = false;
};

}  // namespace halyard::tool
