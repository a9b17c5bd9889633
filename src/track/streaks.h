// SPDX-License-Identifier: Apache-2.0
// Common part of SORT and OC-SORT: a track is reported as tracked after min_hits matches in a row.
#pragma once

#include <cstdint>

#include "halyard/trace.h"
#include "track/matcher.h"
#include "track/tracker.h"

namespace halyard::track {

/// Requirements on Filter: constructed from a box; predict(dt); box().
template <class Filter>
struct Streak {
  explicit Streak(const Box& box) noexcept : filter(box) {}
  Filter filter;
  std::uint32_t length = 0;  ///< matches in a row
};

/// Checks `min_hits`.
inline Status check_hits(std::uint32_t min_hits) {
  return check_option(min_hits <= 1'000'000, "min_hits: must be at most 1000000", min_hits);
}

template <class Filter>
class StreakMethod : public MethodOf<Streak<Filter>> {
  using Base = MethodOf<Streak<Filter>>;

 public:
  /// A detection with a score of at least `start_score` can start a track.
  StreakMethod(const Common& common, std::uint32_t min_hits, float start_score)
      : Base(common),
        matcher_(common.is_class_aware),
        min_hits_(min_hits),
        start_score_(start_score) {}

  void update(const FrameDetections& frame) final {
    if (frames_ <= min_hits_) ++frames_;
    predict(frame.dt);
    matcher_.begin(frame, tracks.size());
    match(frame);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      if (matcher_.is_open_track(i)) {
        tracks[i].state = TrackState::lost;
        states[i].length = 0;
      } else {
        tracks[i].state = state_after(++states[i].length);
      }
    }
    this->remove_if([&](std::size_t i) { return this->is_expired(tracks[i], frame.when); });
    for (const std::uint32_t i : frame.usable) {
      if (matcher_.is_open_detection(i) && frame.detections[i].score >= start_score_)
        this->start(frame, i, state_after(0));
    }
  }

  using Base::tracks;

 protected:
  /// Runs the passes of one frame; tracks hold their predicted boxes.
  virtual void match(const FrameDetections& frame) = 0;

  using Base::states;
  Matcher matcher_;

 private:
  // In the first frames no track can have enough matches, so all count as tracked.
  TrackState state_after(std::uint32_t streak) const noexcept {
    return streak >= min_hits_ || frames_ <= min_hits_ ? TrackState::tracked
                                                       : TrackState::tentative;
  }

  void predict(double dt) {
    trace::Span span("track.update.predict");
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      states[i].filter.predict(dt);
      tracks[i].box = states[i].filter.box();
    }
  }

  std::uint32_t min_hits_;
  float start_score_;
  std::uint32_t frames_ = 0;  // counted up to min_hits + 1
};

}  // namespace halyard::track
