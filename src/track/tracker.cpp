// SPDX-License-Identifier: Apache-2.0
// The common part of all trackers: checks options and input, keeps the time.
#include "track/tracker.h"

#include <algorithm>
#include <cmath>

#include "base/text/format_error.h"
#include "halyard/trace.h"

namespace halyard {
namespace track {

Status check_option(bool holds, const char* what, double value) {
  if (holds) return {};
  return fail(Errc::invalid_argument, what, "{}", value);
}

Status check_common(const Common& common) {
  HALYARD_RETURN_IF_ERROR(check_option(common.max_coast.count() >= 0,
                                       "max_coast: must not be negative",
                                       static_cast<double>(common.max_coast.count())));
  HALYARD_RETURN_IF_ERROR(check_option(common.frame_interval.count() > 0,
                                       "frame_interval: must be above 0",
                                       static_cast<double>(common.frame_interval.count())));
  return check_option(common.max_tracks >= 1 && common.max_tracks <= 65536,
                      "max_tracks: must be in 1..65536", common.max_tracks);
}

}  // namespace track

namespace {

bool is_coordinate(float value) noexcept {  // false for NaN
  return value >= -1e9F && value <= 1e9F;
}

// A trackable detection: its box has an extent and coordinates that floats can square, and its
// score is finite.
bool is_trackable(const Detection& d) noexcept {
  constexpr float min_side = 1e-9F;
  return is_coordinate(d.box.x1) && is_coordinate(d.box.y1) && is_coordinate(d.box.x2) &&
         is_coordinate(d.box.y2) && d.box.width() >= min_side && d.box.height() >= min_side &&
         std::isfinite(d.score) && d.score >= 0;
}

}  // namespace

std::size_t seen_first(std::span<Track> tracks) noexcept {
  std::sort(tracks.begin(), tracks.end(), [](const Track& a, const Track& b) {
    const bool is_lost_a = a.detection < 0;
    const bool is_lost_b = b.detection < 0;
    return is_lost_a != is_lost_b ? is_lost_b : a.id < b.id;
  });
  return static_cast<std::size_t>(
      std::find_if(tracks.begin(), tracks.end(), [](const Track& t) { return t.detection < 0; }) -
      tracks.begin());
}

void Tracker::Impl::choose_usable(std::span<const Detection> detections) {
  usable.clear();
  for (std::uint32_t i = 0; i < detections.size(); ++i) {
    if (is_trackable(detections[i])) usable.push_back(i);
  }
  const std::size_t maximum = method->common().max_tracks;
  method->left_out = usable.size() > maximum ? usable.size() - maximum : 0;
  if (usable.size() <= maximum) return;
  std::nth_element(usable.begin(), usable.begin() + static_cast<std::ptrdiff_t>(maximum),
                   usable.end(), [&](std::uint32_t a, std::uint32_t b) {
                     const float left = detections[a].score;
                     const float right = detections[b].score;
                     return left != right ? left > right : a < b;
                   });
  usable.resize(maximum);
  std::sort(usable.begin(), usable.end());
}

Status Tracker::Impl::update(std::span<const Detection> detections, std::chrono::nanoseconds when) {
  if (!is_first && when < now) {
    return fail(Errc::invalid_argument, "when: must not be before the last update",
                "{} ns after {} ns", when.count(), now.count());
  }
  constexpr std::size_t maximum = 0x7FFFFFFF;  // indices are reported as i32
  if (detections.size() > maximum) {
    return fail(Errc::invalid_argument, "detections: at most 2147483647", "{}", detections.size());
  }
  trace::Span span("track.update");
  const double step = static_cast<double>(method->common().frame_interval.count());
  const double dt = is_first ? 0 : static_cast<double>(track::elapsed_ns(when, now)) / step;
  is_first = false;
  now = when;
  choose_usable(detections);
  for (Track& track : method->tracks)
    track.detection = -1;
  method->removed.clear();
  method->update({detections, usable, when, dt});
  span.arg("detections", detections.size())
      .arg("tracks", method->tracks.size())
      .arg("timestamp_ns", when.count());
  return {};
}

Tracker::Tracker(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Tracker::Tracker(Tracker&&) noexcept = default;
Tracker& Tracker::operator=(Tracker&&) noexcept = default;
Tracker::~Tracker() = default;

Result<std::vector<Track>> Tracker::update(std::span<const Detection> detections,
                                           std::chrono::nanoseconds when) {
  HALYARD_RETURN_IF_ERROR(impl_->update(detections, when));
  return tracks();
}

Status Tracker::update(std::span<const Detection> detections, std::chrono::nanoseconds when,
                       std::vector<Track>& tracks) {
  HALYARD_RETURN_IF_ERROR(impl_->update(detections, when));
  tracks = this->tracks();
  return {};
}

const std::vector<Track>& Tracker::tracks() const noexcept {
  return impl_->method->tracks;
}

std::size_t Tracker::left_out() const noexcept {
  return impl_->method->left_out;
}

const std::vector<Track>& Tracker::removed() const noexcept {
  return impl_->method->removed;
}

}  // namespace halyard
