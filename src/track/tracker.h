// SPDX-License-Identifier: Apache-2.0
// Implementation of Tracker: Impl holds the common state; Method is what differs between trackers.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/local.h"
#include "halyard/track.h"

namespace halyard::track {

/// One checked frame.
struct FrameDetections {
  std::span<const Detection> detections;
  std::span<const std::uint32_t> usable;  ///< indices of those that can be tracked, ascending
  std::chrono::nanoseconds when{0};
  double dt = 0;  ///< nominal frames since the last update; 0 for the first
};

/// a - b for a >= b. Unsigned, because the difference of two instants may not fit a signed count.
inline std::uint64_t elapsed_ns(std::chrono::nanoseconds a, std::chrono::nanoseconds b) noexcept {
  return static_cast<std::uint64_t>(a.count()) - static_cast<std::uint64_t>(b.count());
}

/// Options that all trackers have.
struct Common {
  std::chrono::nanoseconds max_coast{0};
  std::chrono::nanoseconds frame_interval{1};
  bool is_class_aware = false;
  std::uint32_t max_tracks = 0;
};

class Method {
 public:
  explicit Method(const Common& common) noexcept : common_(common) {}
  virtual ~Method() = default;
  virtual void update(const FrameDetections& frame) = 0;

  const Common& common() const noexcept { return common_; }
  std::vector<Track> tracks;   ///< the live ones, by id
  std::vector<Track> removed;  ///< in the last update, by id
  std::size_t left_out = 0;    ///< in the last update, because of max_tracks

 protected:
  bool is_expired(const Track& track, std::chrono::nanoseconds now) const noexcept {
    return elapsed_ns(now, track.last_seen) > static_cast<std::uint64_t>(common_.max_coast.count());
  }
  /// Continues a track with a detection.
  static void see(Track& track, const FrameDetections& frame, std::uint32_t detection) noexcept {
    const Detection& d = frame.detections[detection];
    track.score = d.score;
    track.last_box = d.box;
    track.label = d.label;
    track.detection = static_cast<std::int32_t>(detection);
    if (track.updates != 0xFFFFFFFFU) ++track.updates;
    track.last_seen = frame.when;
    track.state = TrackState::tracked;
  }

  Common common_;
  std::uint64_t next_id_ = 1;
};

/// A method that keeps a State for each track.
template <class State>
class MethodOf : public Method {
 public:
  using Method::Method;

 protected:
  /// Starts a track. Returns false if max_tracks are live already.
  bool start(const FrameDetections& frame, std::uint32_t detection, TrackState state) {
    if (tracks.size() >= common_.max_tracks) {
      ++left_out;
      return false;
    }
    const Detection& d = frame.detections[detection];
    states.emplace_back(d.box);
    tracks.push_back({next_id_++, d.box, d.score, d.label, static_cast<std::int32_t>(detection), 1,
                      frame.when, frame.when, state, d.box});
    return true;
  }

  /// Moves the tracks for which `is_over(index)` is true to `removed`; keeps the order.
  template <class Predicate>
  void remove_if(Predicate is_over) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (is_over(i)) {
        removed.push_back(tracks[i]);
        removed.back().state = TrackState::removed;
        continue;
      }
      if (kept != i) {
        tracks[kept] = tracks[i];
        states[kept] = std::move(states[i]);
      }
      ++kept;
    }
    tracks.resize(kept);
    states.erase(states.begin() + static_cast<std::ptrdiff_t>(kept), states.end());
  }

  std::vector<State> states;  ///< parallel to tracks
};

/// Error `what` with the value, if `holds` is false.
Status check_option(bool holds, const char* what, double value);
/// As above for a value that must be in [0, 1]; NaN is refused.
inline Status check_share(float value, const char* what) {
  return check_option(value >= 0 && value <= 1, what, value);
}
/// Checks the options that all trackers have. Errors: invalid_argument.
Status check_common(const Common& common);

template <class Options>
Common common_options(const Options& o) noexcept {
  return {o.max_coast, o.frame_interval, o.is_class_aware, o.max_tracks};
}

}  // namespace halyard::track

namespace halyard {

struct HALYARD_LOCAL Tracker::Impl {
  explicit Impl(std::unique_ptr<track::Method> own) noexcept : method(std::move(own)) {}

  std::unique_ptr<track::Method> method;
  bool is_first = true;
  std::chrono::nanoseconds now{0};
  std::vector<std::uint32_t> usable;  // scratch

  void choose_usable(std::span<const Detection> detections);
  Status update(std::span<const Detection> detections, std::chrono::nanoseconds when);
};

}  // namespace halyard
