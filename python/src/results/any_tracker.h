// SPDX-License-Identifier: Apache-2.0
// Trackers of every kind as arguments of calls: ByteTrack, OcSort, Sort and halyard.Tracker.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "fork_mutex.h"
#include "halyard/compat/track.h"
#include "halyard/pipeline.h"
#include "halyard/track.h"
#include "results/tracks.h"

namespace halyard::python {

/// A tracker and the names of its tracks: Python's OcSort and Sort.
struct PyTracker {
  explicit PyTracker(Tracker made) : tracker(std::move(made)) {}
  Tracker tracker;
  UuidSeed seed = take(UuidSeed::random());
  PyMutex mutex;
};

/// The C++ part of halyard.Tracker. Frames without a timestamp are `step` apart.
struct TrackerCore : PyTracker {
  TrackerCore(Tracker made, std::chrono::nanoseconds each)
      : PyTracker(std::move(made)), step(each) {}
  /// With the mutex held: the time of a frame, and that the tracker has advanced to it.
  std::uint64_t time(std::optional<std::uint64_t> given) const { return given.value_or(next); }
  void moved_to(std::uint64_t when) { next = when + static_cast<std::uint64_t>(step.count()); }

  std::chrono::nanoseconds step;
  std::uint64_t next = 0;
};

/// The options of halyard.Tracker: its kind and a dict. Raises InvalidArgumentError for others.
TrackerOptions tracker_options_from(const std::string& kind, const nb::dict& given);
/// Without the tentative ones, those seen first: boxes, scores, classes, ids, UUIDs, index of the
/// detection (all bits set: none).
nb::tuple track_arrays(std::vector<Track>& tracks, UuidSeed seed);

/// One argument.
class TrackerArg {
 public:
  /// Raises TypeError. `timestamp`: ns; None: the next frame of a halyard.Tracker, else now.
  TrackerArg(nb::handle tracker, nb::handle timestamp);

  /// Calls use(tracker, timestamp) with a compat::ByteTrack or a compat::AnyTracker, which no other
  /// thread uses meanwhile. Without the interpreter's lock.
  template <class Use>
  Status follow(Use&& use) {
    if (byte_track_ != nullptr) return use(byte_track_->value, *when_);
    const std::lock_guard lock(any_->mutex);
    const std::uint64_t when = core_ == nullptr ? *when_ : core_->time(when_);
    const compat::AnyTracker tracker{any_->tracker, any_->seed};
    HALYARD_RETURN_IF_ERROR(use(tracker, when));
    if (core_ != nullptr) core_->moved_to(when);
    return {};
  }

 private:
  nb::object kept_;  ///< what the pointers point into
  PyByteTrack* byte_track_ = nullptr;
  PyTracker* any_ = nullptr;
  TrackerCore* core_ = nullptr;  ///< of halyard.Tracker: any_ itself
  std::optional<std::uint64_t> when_;
};

}  // namespace halyard::python
