// SPDX-License-Identifier: Apache-2.0
#include "serve/live_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t max_recent = 64;
constexpr std::chrono::seconds rate_time(2), fresh_time(2), asked_time(5);

bool is_share(float value) {
  return value >= 0 && value <= 1;  // false for NaN
}

}  // namespace

void LiveFeed::set_hooks(Hooks hooks) {
  const std::lock_guard lock(hook_mutex_);
  hooks_ = std::move(hooks);
}

LiveControls LiveFeed::controls() const {
  const std::lock_guard lock(mutex_);
  return controls_;
}

Status LiveFeed::change(const LiveControls& controls) {
  if (!is_share(controls.score))
    return make_error(Errc::invalid_argument, "score must be a number from 0 to 1");
  if (!is_share(controls.iou))
    return make_error(Errc::invalid_argument, "iou must be a number from 0 to 1");
  const std::lock_guard applying(hook_mutex_);
  if (hooks_.apply) HALYARD_RETURN_IF_ERROR(hooks_.apply(controls));
  const std::lock_guard lock(mutex_);
  controls_ = controls;
  return {};
}

void LiveFeed::add(LiveFrame frame) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  ++frames_;
  recent_.push_back(std::move(frame));
  if (recent_.size() > max_recent) recent_.pop_front();
  passed_.push_back(now);
  while (passed_.front() + rate_time < now)
    passed_.pop_front();
}

void LiveFeed::set_image(std::shared_ptr<const std::string> jpeg) {
  const std::lock_guard lock(mutex_);
  image_.swap(jpeg);
  image_made_ = Clock::now();
}

std::shared_ptr<const std::string> LiveFeed::ask_image() {
  const std::lock_guard lock(mutex_);
  image_asked_ = Clock::now();
  const bool is_new = image_made_ + fresh_time >= image_asked_;
  return is_new || controls_.is_paused || has_ended_ ? image_ : nullptr;
}

bool LiveFeed::wants_image() const {
  const std::lock_guard lock(mutex_);
  return image_asked_ != Clock::time_point{} && image_asked_ + asked_time >= Clock::now();
}

void LiveFeed::set_ended() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
}

LiveFeed::State LiveFeed::state(std::size_t frames) const {
  State out;
  {
    const std::lock_guard lock(hook_mutex_);
    if (hooks_.counts) out.counts = hooks_.counts();
  }
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  out.controls = controls_;
  out.frames = frames_;
  out.began = began_;
  out.has_ended = has_ended_;
  const auto first = std::find_if(passed_.begin(), passed_.end(),
                                  [now](auto when) { return when + rate_time >= now; });
  const auto passed = std::distance(first, passed_.end());
  const std::chrono::duration<double> span = std::min<Clock::duration>(rate_time, now - began_);
  out.rate = span.count() > 0 ? static_cast<double>(passed) / span.count() : 0;
  if (recent_.empty()) return out;
  const LiveFrame& last = recent_.back();
  out.size = last.size;
  out.tracks = last.tracks;
  out.top_class = last.top_class;
  for (const std::int32_t label : last.labels)
    ++out.objects[label];
  const std::size_t shown = std::min(frames, recent_.size());
  out.recent.assign(recent_.end() - static_cast<std::ptrdiff_t>(shown), recent_.end());
  return out;
}

}  // namespace halyard::tool
