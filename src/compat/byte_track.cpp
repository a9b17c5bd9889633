// SPDX-License-Identifier: Apache-2.0
// ByteTrack as a shared handle, with UUIDs as ids and one result per detection.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "base/text/cut_text.h"
#include "base/text/format_error.h"
#include "compat/byte_track.h"

namespace halyard::compat {
namespace {

// The underlying trackers use signed nanoseconds.
constexpr auto max_ns = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
// The minimum gain of a correction: the tracker needs one above 0.
constexpr float min_gain = 1e-6F;

Status check_number(float value, const char* what) {
  if (!std::isnan(value)) return {};
  return make_error(Errc::invalid_argument, what);
}

}  // namespace

ByteTrack::ByteTrack(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Result<ByteTrack> ByteTrack::create(const ByteTrackOptions& options) {
  HALYARD_RETURN_IF_ERROR(check_number(options.high_conf, "high_conf: is not a number"));
  HALYARD_RETURN_IF_ERROR(check_number(options.iou, "iou: is not a number"));
  HALYARD_RETURN_IF_ERROR(check_number(options.update, "update: is not a number"));
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

Result<ByteTrack> ByteTrack::create(float track_update, float high_thresh, float match_thresh,
                                    int frame_rate, int track_buffer) {
  ByteTrackOptions options;
  options.update = track_update;
  options.high_conf = high_thresh;
  options.iou = match_thresh;
  if (track_buffer < 0)
    return fail(Errc::invalid_argument, "track_buffer: must not be below 0", "{}", track_buffer);
  if (frame_rate > 0) {
    options.lifespan_ns = static_cast<std::uint64_t>(track_buffer) * 1'000'000'000U /
                          static_cast<std::uint64_t>(frame_rate);
  }
  return create(options);
}

Status ByteTrack::Impl::advance(std::span<const Detection> detections, std::uint64_t timestamp) {
  HALYARD_TRY(const std::chrono::nanoseconds when, time_of(timestamp));
  HALYARD_RETURN_IF_ERROR(tracker.update(detections, when, tracks));
  next_boxes.clear();
  auto known = last_boxes.cbegin();
  for (const Track& track : tracks) {  // sorted by id, as are the boxes
    if (track.detection >= 0) {
      next_boxes.push_back({track.id, detections[static_cast<std::size_t>(track.detection)].box});
      continue;
    }
    while (known != last_boxes.cend() && known->id < track.id)
      ++known;
    const bool is_known = known != last_boxes.cend() && known->id == track.id;
    next_boxes.push_back({track.id, is_known ? known->box : track.box});
  }
  last_boxes.swap(next_boxes);
  seen = seen_first(tracks);
  return {};
}

TrackInfo info_of(const Track& track, UuidSeed seed) noexcept {
  return {uuid_v4(seed, track.id), track.box, static_cast<std::int32_t>(track.updates),
          static_cast<std::uint64_t>(track.created.count()),
          static_cast<std::uint64_t>(track.last_seen.count())};
}

Result<std::chrono::nanoseconds> time_of(std::uint64_t timestamp) {
  if (timestamp > max_ns)
    return fail(Errc::invalid_argument, "timestamp: must be at most 2^63 - 1 ns", "{}", timestamp);
  return std::chrono::nanoseconds(static_cast<std::int64_t>(timestamp));
}

Status ByteTrack::update(std::span<const Detection> detections, std::uint64_t timestamp,
                         std::vector<std::optional<TrackInfo>>& out) {
  const ForkLock lock(impl_->mutex);
  if (!lock) return make_error(Errc::busy, Impl::in_fork);
  HALYARD_RETURN_IF_ERROR(impl_->advance(detections, timestamp));
  out.assign(detections.size(), std::nullopt);
  for (std::size_t i = 0; i < impl_->seen; ++i) {
    const Track& track = impl_->tracks[i];
    out[static_cast<std::size_t>(track.detection)] = info_of(track, impl_->seed);
  }
  return {};
}

void ByteTrack::active(std::vector<ActiveTrack>& out) const {
  out.clear();
  const ForkLock lock(impl_->mutex);
  if (!lock) return;
  for (const Track& track : impl_->tracks) {
    const auto last =
        std::lower_bound(impl_->last_boxes.begin(), impl_->last_boxes.end(), track.id,
                         [](const Impl::LastBox& box, std::uint64_t id) { return box.id < id; });
    out.push_back({info_of(track, impl_->seed), last->box, track.score, track.label});
  }
}

std::size_t ByteTrack::left_out() const noexcept {
  const ForkLock lock(impl_->mutex);
  return lock ? impl_->tracker.left_out() : 0;
}

const ByteTrackOptions& ByteTrack::options() const noexcept {
  return impl_->options;
}

Result<Uuid> parse_uuid(std::string_view text) {
  Uuid out;
  std::size_t digits = 0;
  bool is_good = text.size() == 32 || text.size() == 36;
  for (std::size_t i = 0; i < text.size() && is_good; ++i) {
    const char c = text[i];
    if (text.size() == 36 && (i == 8 || i == 13 || i == 18 || i == 23)) {
      is_good = c == '-';
      continue;
    }
    const int value = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    is_good = value >= 0;
    if (!is_good) break;
    auto& byte = out.bytes[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++digits;
  }
  if (!is_good)
    return fail(Errc::malformed,
                "uuid: must be 32 hexadecimal digits, with dashes as 8-4-4-4-12 or none", "\"{}\"",
                cut_text(text, 64));
  return out;
}

}  // namespace halyard::compat
