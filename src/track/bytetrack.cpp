// SPDX-License-Identifier: Apache-2.0
// ByteTrack: predict, two passes of assignment, birth and death of tracks.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format_error.h"
#include "halyard/trace.h"
#include "halyard/track.h"
#include "track/assignment.h"
#include "track/kalman.h"

namespace halyard {
namespace {

using track::BoxFilter;

Status check(bool holds, const char* what, double value) {
  if (holds) return {};
  return fail(Errc::invalid_argument, what, "{}", value);
}

// What can be tracked: a finite box with an extent, and a score.
bool is_trackable(const Detection& d) noexcept {
  return std::isfinite(d.box.x1) && std::isfinite(d.box.y1) && std::isfinite(d.box.x2) &&
         std::isfinite(d.box.y2) && d.box.x1 < d.box.x2 && d.box.y1 < d.box.y2 &&
         std::isfinite(d.score) && d.score >= 0;
}

// In double, and relative to the boxes: a box of a thousandth of a fraction matches like any other.
double overlap(const Box& a, const Box& b) noexcept {
  const double width = std::min(a.x2, b.x2) - static_cast<double>(std::max(a.x1, b.x1));
  const double height = std::min(a.y2, b.y2) - static_cast<double>(std::max(a.y1, b.y1));
  const double shared = width * height;
  const auto area = [](const Box& box) {
    return (static_cast<double>(box.x2) - box.x1) * (static_cast<double>(box.y2) - box.y1);
  };
  return shared / (area(a) + area(b) - shared);
}

// Without branches inside: nearly all pairs are apart, but on which side is anyone's guess.
bool are_apart(const Box& a, const Box& b) noexcept {
  return ((a.x1 >= b.x2) | (b.x1 >= a.x2) | (a.y1 >= b.y2) | (b.y1 >= a.y2)) != 0;
}

}  // namespace

// Invariant: `filters` and `tracks` are parallel and ordered by id.
struct ByteTrack::Impl {
  Options options;
  std::vector<BoxFilter> filters;
  std::vector<Track> tracks;
  std::uint64_t next_id = 1;
  bool is_first = true;
  std::chrono::nanoseconds now{0};

  // Scratch, kept to save allocations.
  std::vector<std::uint32_t> open_detections, open_tracks;
  std::vector<Box> boxes;  // of the open tracks
  std::vector<track::Pair> pairs;

  void predict(std::chrono::nanoseconds when);
  void match(std::span<const Detection> detections, float least_score);
  void take(const Detection& detection, std::uint32_t index, std::uint32_t track);
  void expire();
  void spawn(std::span<const Detection> detections);
  bool is_expired(const Track& track) const noexcept;
};

void ByteTrack::Impl::predict(std::chrono::nanoseconds when) {
  // Unsigned: the difference of two instants may not fit a signed count.
  const auto elapsed =
      static_cast<std::uint64_t>(when.count()) - static_cast<std::uint64_t>(now.count());
  const double dt =
      is_first ? 0
               : static_cast<double>(elapsed) / static_cast<double>(options.frame_interval.count());
  is_first = false;
  now = when;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    filters[i].predict(dt, tracks[i].detection < 0);
    tracks[i].box = filters[i].box();
    tracks[i].detection = -1;
  }
}

// One pass: open detections of at least the score with open tracks. Matched ones are closed.
void ByteTrack::Impl::match(std::span<const Detection> detections, float least_score) {
  pairs.clear();
  boxes.clear();
  for (const std::uint32_t track : open_tracks)
    boxes.push_back(tracks[track].box);
  for (std::uint32_t row = 0; row < open_detections.size(); ++row) {
    const Detection& d = detections[open_detections[row]];
    if (d.score < least_score) continue;
    for (std::uint32_t column = 0; column < boxes.size(); ++column) {
      const Box& box = boxes[column];
      if (are_apart(d.box, box)) continue;
      const double iou = overlap(d.box, box);
      if (!(iou >= options.min_iou)) continue;
      pairs.push_back({row, column, (1.5 - d.score) + (1.5 - iou)});
    }
  }
  if (pairs.empty()) return;
  const auto chosen = track::assign(pairs, open_detections.size(), open_tracks.size());
  constexpr std::uint32_t closed = 0xFFFFFFFFU;
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    if (chosen[row] == track::unassigned) continue;
    auto& column = open_tracks[static_cast<std::size_t>(chosen[row])];
    take(detections[open_detections[row]], open_detections[row], column);
    open_detections[row] = closed;
    column = closed;
  }
  std::erase(open_detections, closed);
  std::erase(open_tracks, closed);
}

void ByteTrack::Impl::take(const Detection& detection, std::uint32_t index, std::uint32_t track) {
  filters[track].correct(detection.box, options.update_gain);
  Track& t = tracks[track];
  t.box = filters[track].box();
  t.score = detection.score;
  t.label = detection.label;
  t.detection = static_cast<std::int32_t>(index);
  if (t.updates != 0xFFFFFFFFU) ++t.updates;
  t.last_seen = now;
}

bool ByteTrack::Impl::is_expired(const Track& track) const noexcept {
  const auto unseen =
      static_cast<std::uint64_t>(now.count()) - static_cast<std::uint64_t>(track.last_seen.count());
  return unseen > static_cast<std::uint64_t>(options.max_coast.count());
}

void ByteTrack::Impl::expire() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (is_expired(tracks[i])) continue;
    tracks[kept] = tracks[i];
    filters[kept] = filters[i];
    ++kept;
  }
  tracks.resize(kept);
  filters.erase(filters.begin() + static_cast<std::ptrdiff_t>(kept), filters.end());
}

void ByteTrack::Impl::spawn(std::span<const Detection> detections) {
  for (const std::uint32_t index : open_detections) {
    const Detection& d = detections[index];
    if (d.score < options.high_score) continue;
    filters.emplace_back(d.box);
    tracks.push_back(
        {next_id++, d.box, d.score, d.label, static_cast<std::int32_t>(index), 1, now, now});
  }
}

ByteTrack::ByteTrack(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
ByteTrack::ByteTrack(ByteTrack&&) noexcept = default;
ByteTrack& ByteTrack::operator=(ByteTrack&&) noexcept = default;
ByteTrack::~ByteTrack() = default;

Result<ByteTrack> ByteTrack::create(Options options) {
  const auto is_unit = [](float value) { return value >= 0 && value <= 1; };  // false for NaN
  HALYARD_CHECK(
      check(is_unit(options.high_score), "high_score: must be in [0, 1]", options.high_score));
  HALYARD_CHECK(check(is_unit(options.min_iou), "min_iou: must be in [0, 1]", options.min_iou));
  HALYARD_CHECK(check(options.update_gain > 0 && options.update_gain <= 1,
                      "update_gain: must be above 0 and at most 1", options.update_gain));
  HALYARD_CHECK(check(options.max_coast.count() >= 0, "max_coast: must not be negative",
                      static_cast<double>(options.max_coast.count())));
  HALYARD_CHECK(check(options.frame_interval.count() > 0, "frame_interval: must be above 0",
                      static_cast<double>(options.frame_interval.count())));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  return ByteTrack(std::move(impl));
}

Result<std::vector<Track>> ByteTrack::update(std::span<const Detection> detections,
                                             std::chrono::nanoseconds when) {
  Impl& impl = *impl_;
  if (!impl.is_first && when < impl.now) {
    return fail(Errc::invalid_argument, "when: must not be before the last update",
                "{} ns after {} ns", when.count(), impl.now.count());
  }
  constexpr std::size_t most = 0x7FFFFFFF;  // indices are reported as i32
  if (detections.size() > most) {
    return fail(Errc::invalid_argument, "detections: at most 2147483647", "{}", detections.size());
  }
  trace::Span span("track.update");
  impl.predict(when);
  impl.open_detections.clear();
  for (std::uint32_t i = 0; i < detections.size(); ++i) {
    if (is_trackable(detections[i])) impl.open_detections.push_back(i);
  }
  impl.open_tracks.resize(impl.tracks.size());
  for (std::uint32_t i = 0; i < impl.open_tracks.size(); ++i)
    impl.open_tracks[i] = i;
  impl.match(detections, impl.options.high_score);
  impl.match(detections, 0);
  impl.expire();
  impl.spawn(detections);
  span.arg("detections", detections.size()).arg("tracks", impl.tracks.size());
  return impl.tracks;
}

const std::vector<Track>& ByteTrack::tracks() const noexcept {
  return impl_->tracks;
}

}  // namespace halyard
