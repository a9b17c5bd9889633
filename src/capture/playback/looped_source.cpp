// SPDX-License-Identifier: Apache-2.0
// A source that begins again after its last frame.
#include <utility>

#include "capture/source.h"

namespace halyard::capture {
namespace {

using std::chrono::nanoseconds;

class LoopedSource final : public Source {
 public:
  explicit LoopedSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  Result<std::optional<Frame>> next() override {
    auto frame = source_->next();
    if (!frame) {
      // A cancelled call is no end of the pass, and a damaged frame is one of it.
      is_empty_pass_ = is_empty_pass_ && frame.error().code == Errc::cancelled;
      return frame;
    }
    if (!*frame && !is_empty_pass_) {
      HALYARD_RETURN_IF_ERROR(begin_pass());
      frame = source_->next();
    }
    if (!frame || !*frame) return frame;
    is_empty_pass_ = false;
    Frame& found = **frame;
    found.index += index_offset_;
    found.timestamp += time_offset_;
    step_ = found.timestamp > last_time_ ? found.timestamp - last_time_ : step_;
    last_time_ = found.timestamp;
    next_index_ = found.index + 1;
    return frame;
  }
  bool is_video() const noexcept override { return source_->is_video(); }
  double rate() const noexcept override { return source_->rate(); }
  Status seek(nanoseconds time) override {
    index_offset_ = 0;
    time_offset_ = nanoseconds(0);
    last_time_ = time;
    is_empty_pass_ = true;
    return source_->seek(time);
  }

 private:
  Status begin_pass() {
    HALYARD_RETURN_IF_ERROR(source_->seek({}));
    is_empty_pass_ = true;
    index_offset_ = next_index_;
    // The last frame is shown as long as one is by the rate, or as long as the one before it was.
    const double rate = source_->rate();
    time_offset_ =
        last_time_ + (rate > 0 ? nanoseconds(static_cast<std::int64_t>(1e9 / rate)) : step_);
    return {};
  }

  std::unique_ptr<Source> source_;
  std::size_t next_index_ = 0;
  std::size_t index_offset_ = 0;
  nanoseconds time_offset_{0};
  nanoseconds last_time_{0};
  nanoseconds step_{40'000'000};
  bool is_empty_pass_ = true;
};

}  // namespace

std::unique_ptr<Source> looped_source(std::unique_ptr<Source> source) {
  return std::make_unique<LoopedSource>(std::move(source));
}

}  // namespace halyard::capture
