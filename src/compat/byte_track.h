// SPDX-License-Identifier: Apache-2.0
// The state that copies of a ByteTrack share: the tracker, its mutex, and the last box of each
// track.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/local.h"
#include "halyard/compat/track.h"
#include "halyard/threads.h"
#include "halyard/track.h"

namespace halyard::compat {

struct HALYARD_LOCAL ByteTrack::Impl {
  Impl(halyard::ByteTrack made, UuidSeed uuids, const ByteTrackOptions& asked)
      : tracker(std::move(made)), seed(uuids), options(asked) {}

  static constexpr char in_fork[] =
      "ByteTrack: another thread was using it when this process was forked";
  ForkMutex mutex;
  halyard::ByteTrack tracker;
  UuidSeed seed;
  ByteTrackOptions options;
  std::vector<Track> tracks;  ///< seen ones first, both parts sorted by id
  std::size_t seen = 0;

  struct LastBox {
    std::uint64_t id = 0;
    Box box;
  };
  std::vector<LastBox> last_boxes;  ///< sorted by id
  std::vector<LastBox> next_boxes;

  /// Call it with the mutex held. Errors: those of update().
  Status advance(std::span<const Detection> detections, std::uint64_t timestamp);
};

/// Errors: invalid_argument (above 2^63 - 1).
Result<std::chrono::nanoseconds> time_of(std::uint64_t timestamp);

}  // namespace halyard::compat
