// SPDX-License-Identifier: Apache-2.0
#include "serve/live_video.h"

#include <algorithm>
#include <utility>

namespace halyard::tool {
namespace {

constexpr Size probe_size{64, 64};

}  // namespace

LiveVideo::LiveVideo(HttpServer& server, VideoStreamOptions options)
    : server_(server), options_(std::move(options)) {
  const auto probe = VideoStreamWriter::create(probe_size, options_);
  state_.is_available = static_cast<bool>(probe);
  if (probe) state_.encoder = probe->encoder();
  if (!probe) state_.error = probe.error().message();
}

bool LiveVideo::is_wanted() {
  if (server_.viewers(HttpStream::video) != 0) return !has_failed_;
  // Nobody waits for what follows the last segment.
  writer_.reset();
  has_failed_ = false;
  return false;
}

void LiveVideo::add(const Tensor& image, std::chrono::steady_clock::time_point time) {
  const auto since = std::chrono::nanoseconds(time - began_);
  last_ = std::max(since, last_ + std::chrono::microseconds(1));
  if (const Status done = encode(image, last_); !done) fail(done.error());
}

Status LiveVideo::encode(const Tensor& image, std::chrono::nanoseconds time) {
  const std::uint64_t arrivals = server_.arrivals(HttpStream::video);
  if (!writer_ || image.size() != size_) {
    HALYARD_TRY(writer_, VideoStreamWriter::create(image.size(), options_));
    size_ = image.size();
    head_.reset();
    const std::lock_guard lock(mutex_);
    state_.error.clear();
  }
  if (arrivals != arrivals_) writer_->ask_key();
  arrivals_ = arrivals;
  HALYARD_TRY(auto segment, writer_->write(image, time));
  if (!head_) head_ = std::make_shared<const std::string>(writer_->initialization());
  using Role = StreamMessage::Role;
  server_.push(HttpStream::video,
               {std::make_shared<const std::string>(std::move(segment.bytes)),
                segment.is_key ? Role::first : Role::follows, segment.is_key ? head_ : nullptr});
  return {};
}

void LiveVideo::fail(const Error& error) {
  has_failed_ = true;
  writer_.reset();
  const std::lock_guard lock(mutex_);
  state_.error = error.message();
}

LiveVideoState LiveVideo::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace halyard::tool
