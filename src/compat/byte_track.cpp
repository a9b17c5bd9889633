// SPDX-License-Identifier: Apache-2.0
// ByteTrack as a shared handle, with UUIDs as ids and one result per detection.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "base/work_pool.h"
#include "halyard/compat/track.h"
#include "halyard/threads.h"
#include "halyard/track.h"

namespace halyard::compat {
namespace {

// The underlying trackers use signed nanoseconds.
constexpr auto max_ns = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
// The minimum gain of a correction: the tracker needs one above 0.
constexpr float min_gain = 1e-6F;

}  // namespace

/// Working memory of one call.
struct TrackWork {
  std::vector<Track> tracks;
  void release() noexcept { tracks.clear(); }
};

struct HALYARD_LOCAL ByteTrack::Impl {
  Impl(halyard::ByteTrack made, UuidSeed uuids, const ByteTrackOptions& asked)
      : tracker(std::move(made)), seed(uuids), options(asked) {}

  ForkMutex mutex;
  halyard::ByteTrack tracker;
  UuidSeed seed;
  ByteTrackOptions options;
  WorkPool<TrackWork> pool;
};

ByteTrack::ByteTrack(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Result<ByteTrack> ByteTrack::create(const ByteTrackOptions& options) {
  if (std::isnan(options.high_conf) || std::isnan(options.iou) || std::isnan(options.update))
    return make_error(Errc::invalid_argument, "high_conf, iou, update: must be numbers");
  halyard::ByteTrackOptions made;
  made.high_score = std::clamp(options.high_conf, 0.0F, 1.0F);
  made.min_iou = std::clamp(options.iou, 0.0F, 1.0F);
  made.update_gain = std::clamp(options.update, min_gain, 1.0F);
  made.max_coast =
      std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(options.lifespan_ns, max_ns)));
  HALYARD_TRY(halyard::ByteTrack tracker, halyard::ByteTrack::create(made));
  HALYARD_TRY(const UuidSeed seed, UuidSeed::random());
  return ByteTrack(std::make_shared<Impl>(std::move(tracker), seed, options));
}

AnyTracker::AnyTracker(ByteTrack& shared) noexcept
    : tracker_(&shared.impl_->tracker), seed_(shared.impl_->seed), mutex_(&shared.impl_->mutex) {}

Result<std::size_t> AnyTracker::advance(std::span<const Detection> detections,
                                        std::uint64_t timestamp, std::vector<Track>& tracks) const {
  const HeldRank<LockRank::byte_track> rank;
  std::optional<ForkLock> lock;
  if (mutex_ != nullptr && !lock.emplace(*mutex_))
    return make_error(Errc::busy,
                      "ByteTrack: another thread was using it when this process was forked");
  if (timestamp > max_ns)
    return fail(Errc::invalid_argument, "timestamp: must be at most 2^63 - 1 ns", "{}", timestamp);
  const std::chrono::nanoseconds when(static_cast<std::int64_t>(timestamp));
  HALYARD_RETURN_IF_ERROR(tracker_->update(detections, when, tracks));
  std::erase_if(tracks, [](const Track& track) { return track.state == TrackState::tentative; });
  return seen_first(tracks);
}

TrackInfo info_of(const Track& track, UuidSeed seed) noexcept {
  return {uuid_v4(seed, track.id), track.box, static_cast<std::int32_t>(track.updates),
          static_cast<std::uint64_t>(track.created.count()),
          static_cast<std::uint64_t>(track.last_seen.count())};
}

Status ByteTrack::update(std::span<const Detection> detections, std::uint64_t timestamp,
                         std::vector<std::optional<TrackInfo>>& out) {
  const WorkPool<TrackWork>::Lease work(impl_->pool);
  auto& tracks = work->tracks;
  HALYARD_TRY(const std::size_t seen, AnyTracker(*this).advance(detections, timestamp, tracks));
  out.assign(detections.size(), std::nullopt);
  for (const Track& track : std::span(tracks).first(seen))
    out[static_cast<std::size_t>(track.detection)] = info_of(track, impl_->seed);
  return {};
}

void ByteTrack::active(std::vector<ActiveTrack>& out) const {
  out.clear();
  const HeldRank<LockRank::byte_track> rank;
  const ForkLock lock(impl_->mutex);
  if (!lock) return;
  std::vector<Track> tracks = impl_->tracker.tracks();
  seen_first(tracks);
  for (const Track& track : tracks)
    out.push_back({info_of(track, impl_->seed), track.last_box, track.score, track.label});
}

std::size_t ByteTrack::left_out() const noexcept {
  const HeldRank<LockRank::byte_track> rank;
  const ForkLock lock(impl_->mutex);
  return lock ? impl_->tracker.left_out() : 0;
}

const ByteTrackOptions& ByteTrack::options() const noexcept {
  return impl_->options;
}

}  // namespace halyard::compat
