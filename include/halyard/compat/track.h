// SPDX-License-Identifier: Apache-2.0
// ByteTrack for programs that were written for EdgeFirst HAL: its order of results and its names.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/uuid.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {
class Tracker;
struct Track;
}  // namespace halyard
namespace halyard::compat {

struct TrackInfo {
  Uuid uuid;                       ///< version 4, the same for all of the track's life
  Box location;                    ///< the filter's estimate after the frame
  std::int32_t count = 0;          ///< detections so far, the first counted
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
  float iou = 0.25F;       ///< least IoU of a pair
  float update = 0.25F;    ///< share of the correction taken over; clamped to [0, 1]
  std::uint64_t lifespan_ns = 500'000'000;  ///< a track unseen for longer ends
};

/// halyard::ByteTrack in mode hal under the reference's interface. Copies share one tracker.
/// Thread-safe: calls wait for each other. Boxes in any unit, the same for all frames.
///
/// Differences from EdgeFirst HAL's own numbers: motion follows the timestamps, not the count of
/// frames, and a detection's info is the state after it has been taken up, not before.
class ByteTrack {
 public:
  /// Errors: invalid_argument (high_conf or iou outside [0, 1] or NaN), os (no random numbers for
  /// UUIDs).
  static Result<ByteTrack> create(const ByteTrackOptions& options = {});
  /// As the C constructor counts: with frame_rate > 0 a track lives for track_buffer / frame_rate
  /// seconds, else for the default.
  static Result<ByteTrack> create(float track_update, float high_thresh, float match_thresh,
                                  int frame_rate, int track_buffer);

  /// Moves to the frame of `timestamp` (ns) and replaces `out` by one entry for each detection:
  /// none where it continues and starts no track. Errors: invalid_argument (a timestamp before the
  /// last one, or above 2^63 - 1), after which nothing has changed.
  Status update(std::span<const Detection> detections, std::uint64_t timestamp,
                std::vector<std::optional<TrackInfo>>& out);
  /// Living tracks: those seen in the last frame first, each part by age.
  void active(std::vector<ActiveTrack>& out) const;
  /// As Tracker::left_out(); a tracker follows 1000 objects at once. In a process forked while
  /// another thread was using the tracker: 0.
  std::size_t left_out() const noexcept;

  const ByteTrackOptions& options() const noexcept;

 private:
  friend class Decoder;
  struct Impl;
  explicit ByteTrack(std::shared_ptr<Impl> impl) noexcept;
  std::shared_ptr<Impl> impl_;
};

/// A tracker of any kind for the calls that take a ByteTrack, and the seed that the UUIDs of its
/// tracks are made from. Borrowed for the call; the caller keeps other threads off the tracker.
struct AnyTracker {
  Tracker& tracker;
  UuidSeed seed;
};
/// What calls tell of a track: uuid_v4(seed, id), its box, and its times.
TrackInfo info_of(const Track& track, UuidSeed seed) noexcept;

/// 32 hexadecimal digits, with or without dashes. Errors: malformed.
Result<Uuid> parse_uuid(std::string_view text);

}  // namespace halyard::compat
HALYARD_EXPORTS_END
