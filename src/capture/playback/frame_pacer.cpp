// SPDX-License-Identifier: Apache-2.0
// FramePacer, and the source that uses it.
#include <algorithm>
#include <thread>
#include <utility>

#include "base/text/format_error.h"
#include "capture/source.h"

namespace halyard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pacer_interval{20};
constexpr std::chrono::seconds max_lateness{1};

}  // namespace

bool FramePacer::wait(std::chrono::nanoseconds timestamp,
                      const std::function<bool()>& is_cancelled) {
  const auto after_start = std::chrono::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(timestamp.count()) / speed_));
  const auto now = Clock::now();
  if (!is_started_ || timestamp < last_ || start_ + after_start + max_lateness < now)
    start_ = now - after_start;
  is_started_ = true;
  last_ = timestamp;
  const Clock::time_point due = start_ + after_start;
  for (auto left = due - now; left > Clock::duration::zero(); left = due - Clock::now()) {
    if (is_cancelled && is_cancelled()) return false;
    std::this_thread::sleep_for(is_cancelled ? std::min<Clock::duration>(left, pacer_interval)
                                             : left);
  }
  return true;
}

namespace capture {
namespace {

class PacedSource final : public Source {
 public:
  PacedSource(std::unique_ptr<Source> source, const Options& options)
      : source_(std::move(source)),
        pacer_(options.speed),
        is_cancelled_(options.load.is_cancelled) {}

  Result<std::optional<Frame>> next() override {
    auto frame = source_->next();
    if (!frame || !*frame) return frame;
    if (pacer_.wait((*frame)->timestamp, is_cancelled_)) return frame;
    return fail(Errc::cancelled, "source: the caller asked to stop", "{}", (*frame)->source);
  }
  std::optional<std::size_t> frame_count() const noexcept override {
    return source_->frame_count();
  }
  bool is_video() const noexcept override { return source_->is_video(); }
  double rate() const noexcept override { return source_->rate(); }
  Status seek(std::chrono::nanoseconds time) override {
    pacer_.restart();
    return source_->seek(time);
  }

 private:
  std::unique_ptr<Source> source_;
  FramePacer pacer_;
  std::function<bool()> is_cancelled_;
};

}  // namespace

std::unique_ptr<Source> paced_source(std::unique_ptr<Source> source, const Options& options) {
  return std::make_unique<PacedSource>(std::move(source), options);
}

}  // namespace capture
}  // namespace halyard
