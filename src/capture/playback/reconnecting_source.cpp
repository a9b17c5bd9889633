// SPDX-License-Identifier: Apache-2.0
// A live source that is opened again when it is lost.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/text/format_error.h"
#include "capture/source.h"
#include "halyard/log.h"

namespace halyard::capture {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds retry_interval{100};

// Whether the frames of an opened source ended with this error. A damaged frame is an error of
// this frame alone, and a caller who holds all buffers of a camera has to return one.
bool is_loss(const Error& error) {
  return error.code == Errc::os || error.code == Errc::timeout || error.code == Errc::device;
}

// Whether a later attempt may succeed. A camera that is unplugged is not found until it is back.
bool may_open_later(const Error& error, bool was_open) {
  switch (error.code) {
    case Errc::os:
    case Errc::timeout:
    case Errc::device:
    case Errc::busy:
    case Errc::exhausted:  // the bandwidth of USB
      return true;
    case Errc::not_found:
    case Errc::permission:
    case Errc::malformed:
    case Errc::corrupt:
      return was_open;
    default:
      return false;
  }
}

/// Attempts to open a source, with longer and longer waits between them.
class Attempts {
 public:
  Attempts(OpenSource open, std::string name, const Options& options)
      : open_(std::move(open)),
        name_(std::move(name)),
        waits_(*options.reconnect),
        is_cancelled_(options.load.is_cancelled) {}

  SourceResult run(bool was_open) {
    milliseconds wait = waits_.first_wait;
    for (std::size_t failures = 1;; ++failures) {
      auto source = open_();
      if (source || !may_open_later(source.error(), was_open)) return source;
      if (failures == waits_.max_attempts) return source;
      log(LogLevel::warn, "capture",
          fmt::format("{} cannot be opened ({}); next attempt in {} ms", name_,
                      source.error().message(), wait.count()));
      HALYARD_RETURN_IF_ERROR(pause(wait));
      wait = std::min(wait * 2, waits_.max_wait);
    }
  }
  const std::string& name() const noexcept { return name_; }
  milliseconds first_wait() const noexcept { return waits_.first_wait; }

  Status pause(milliseconds wait) const {
    const auto end = Clock::now() + wait;
    for (auto now = Clock::now(); now < end; now = Clock::now()) {
      if (is_cancelled_ && is_cancelled_())
        return fail(Errc::cancelled, "source: the caller asked to stop", "{}", name_);
      std::this_thread::sleep_for(std::min<Clock::duration>(end - now, retry_interval));
    }
    return {};
  }

 private:
  OpenSource open_;
  std::string name_;
  ReconnectOptions waits_;
  std::function<bool()> is_cancelled_;
};

class ReconnectingSource final : public Source {
 public:
  ReconnectingSource(std::unique_ptr<Source> source, Attempts attempts)
      : source_(std::move(source)), attempts_(std::move(attempts)), rate_(source_->rate()) {}

  Result<std::optional<Frame>> next() override {
    for (;;) {
      if (!source_) HALYARD_RETURN_IF_ERROR(connect());
      auto frame = source_->next();
      if (frame && *frame) {
        continue_numbers(**frame);
        return frame;
      }
      if (!frame && !is_loss(frame.error())) return frame;
      log(LogLevel::warn, "capture",
          fmt::format("{} is lost ({}); it is opened again", attempts_.name(),
                      frame ? std::string("its stream ended") : frame.error().message()));
      source_.reset();
    }
  }
  bool is_video() const noexcept override { return true; }
  bool is_live() const noexcept override { return true; }
  double rate() const noexcept override { return rate_; }
  std::size_t reconnect_count() const noexcept override { return count_; }

 private:
  Status connect() {
    // A server that closes each connection at once is not asked without an end.
    if (Clock::now() - connected_ < attempts_.first_wait())
      HALYARD_RETURN_IF_ERROR(attempts_.pause(attempts_.first_wait()));
    HALYARD_TRY(source_, attempts_.run(true));
    connected_ = Clock::now();
    ++count_;
    index_offset_ = next_index_;
    is_first_ = true;
    return {};
  }

  // The time of the first frame of a connection is the time that has passed since the last one.
  void continue_numbers(Frame& frame) {
    const auto now = Clock::now();
    if (is_first_ && count_ > 0) time_offset_ = last_time_ + (now - last_seen_) - frame.timestamp;
    is_first_ = false;
    frame.index += index_offset_;
    frame.timestamp += time_offset_;
    last_time_ = frame.timestamp;
    last_seen_ = now;
    next_index_ = frame.index + 1;
  }

  std::unique_ptr<Source> source_;  // null while it is lost
  Attempts attempts_;
  double rate_;
  Clock::time_point connected_ = Clock::now();
  std::size_t count_ = 0;
  bool is_first_ = true;  // the frame that follows is the first of its connection
  std::size_t index_offset_ = 0;
  std::size_t next_index_ = 0;
  nanoseconds time_offset_{0};
  nanoseconds last_time_{0};
  Clock::time_point last_seen_;
};

}  // namespace

SourceResult reconnecting_source(OpenSource open, const std::string& name, const Options& options) {
  Attempts attempts(std::move(open), name, options);
  HALYARD_TRY(auto source, attempts.run(false));
  if (!source->is_live()) return source;
  return std::unique_ptr<Source>(
      std::make_unique<ReconnectingSource>(std::move(source), std::move(attempts)));
}

}  // namespace halyard::capture
