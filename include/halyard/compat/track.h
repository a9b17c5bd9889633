// SPDX-License-Identifier: Apache-2.0
// ByteTrack for programs that were written for EdgeFirst HAL: its order of results and its names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/uuid.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {
class ForkMutex;
class Tracker;
struct Track;
}  // namespace halyard
namespace halyard::compat {

struct TrackInfo {
  Uuid uuid;                       ///< version 4, constant during the track's life
  Box location;                    ///< the filter's estimate after the frame
  std::int32_t count = 0;          ///< detections so far, including the first
  std::uint64_t created = 0;       ///< ns, as passed to update()
  std::uint64_t last_updated = 0;  ///< ns of the last detection
  friend bool operator==(const TrackInfo&, const TrackInfo&) = default;
};

struct ActiveTrack {
  TrackInfo info;
  Box last_box;            ///< of the last detection
  float score = 0;         ///< of the last detection
  std::int32_t label = 0;  ///< of the last detection
};

struct ByteTrackOptions {
  float high_conf = 0.7F;  ///< first pass, and needed to start a track
  float iou = 0.25F;       ///< minimum IoU of a pair
  float update = 0.25F;    ///< share of the correction that is applied; clamped to [0, 1]
  std::uint64_t lifespan_ns = 500'000'000;  ///< a track that is unseen for longer ends
};

/// halyard::ByteTrack in mode hal with the interface of EdgeFirst HAL. Copies share one tracker.
/// Thread-safe: calls wait for each other. Boxes in any unit, the same for all frames.
///
/// Differences from EdgeFirst HAL's numbers: motion follows the timestamps, not the count of
/// frames; and the info of a detection is the state after the update with it, not before.
class ByteTrack {
 public:
  /// Errors: invalid_argument (high_conf or iou outside [0, 1] or NaN), os (no random numbers for
  /// UUIDs).
  static Result<ByteTrack> create(const ByteTrackOptions& options = {});

  /// Moves to the frame of `timestamp` (ns) and replaces `out` by one entry for each detection:
  /// nullopt if it neither continues nor starts a track. Errors: invalid_argument (a timestamp
  /// before the last one, or above 2^63 - 1); then nothing has changed.
  Status update(std::span<const Detection> detections, std::uint64_t timestamp,
                std::vector<std::optional<TrackInfo>>& out);
  /// Live tracks: first those seen in the last frame, then the others, each part by age.
  void active(std::vector<ActiveTrack>& out) const;
  /// As Tracker::left_out(); a tracker follows 1000 objects at once. 0 in a process that was forked
  /// while another thread used the tracker.
  std::size_t left_out() const noexcept;

  const ByteTrackOptions& options() const noexcept;

 private:
  friend class AnyTracker;
  struct Impl;
  explicit ByteTrack(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

/// The tracker of a call, of any kind, and the seed of its tracks' UUIDs. Borrowed for the call.
class AnyTracker {
 public:
  /// Locked in the meantime: other threads may use it, too.
  AnyTracker(ByteTrack& shared) noexcept;  // NOLINT(google-explicit-constructor)
  /// The caller prevents other threads from using `tracker`.
  AnyTracker(Tracker& tracker, UuidSeed seed) noexcept : tracker_(&tracker), seed_(seed) {}

  UuidSeed seed() const noexcept { return seed_; }
  /// Moves to the frame of `timestamp` (ns). `tracks`: those that the tracker trusts, first the
  /// ones seen in the frame. Returns the number of these. Errors: those of ByteTrack::update().
  Result<std::size_t> advance(std::span<const Detection> detections, std::uint64_t timestamp,
                              std::vector<Track>& tracks) const;

 private:
  Tracker* tracker_;
  UuidSeed seed_;
  ForkMutex* mutex_ = nullptr;
};
/// The info of a track: uuid_v4(seed, id), its box, and its times.
TrackInfo info_of(const Track& track, UuidSeed seed) noexcept;

using halyard::parse_uuid;

}  // namespace halyard::compat
HALYARD_EXPORTS_END
