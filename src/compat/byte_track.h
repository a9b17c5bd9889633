// SPDX-License-Identifier: Apache-2.0
// The state that copies of a ByteTrack share, and one interface to a ByteTrack or an AnyTracker.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/local.h"
#include "halyard/compat/track.h"
#include "halyard/threads.h"
#include "halyard/track.h"

namespace halyard::compat {

struct HALYARD_LOCAL ByteTrack::Impl {
  Impl(halyard::ByteTrack made, UuidSeed uuids, const ByteTrackOptions& asked)
      : tracker(std::move(made)), seed(uuids), options(asked) {}

  ForkMutex mutex;
  halyard::ByteTrack tracker;
  UuidSeed seed;
  ByteTrackOptions options;
};

/// The tracker of one call.
class HALYARD_LOCAL Follower {
 public:
  Follower(ByteTrack& shared) noexcept  // NOLINT(google-explicit-constructor)
      : tracker_(&shared.impl_->tracker), seed_(shared.impl_->seed), mutex_(&shared.impl_->mutex) {}
  Follower(const AnyTracker& any) noexcept  // NOLINT(google-explicit-constructor)
      : tracker_(&any.tracker), seed_(any.seed) {}

  UuidSeed seed() const noexcept { return seed_; }
  /// Moves to the frame of `timestamp`. `tracks`: those that the tracker trusts, first the ones
  /// seen in the frame. Returns the number of these. Errors: those of ByteTrack::update().
  Result<std::size_t> advance(std::span<const Detection> detections, std::uint64_t timestamp,
                              std::vector<Track>& tracks) const;

 private:
  Tracker* tracker_;
  UuidSeed seed_;
  ForkMutex* mutex_ = nullptr;
};

}  // namespace halyard::compat
