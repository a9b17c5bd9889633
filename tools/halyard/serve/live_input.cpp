// SPDX-License-Identifier: Apache-2.0
#include "serve/live_input.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "input/inputs.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds wait_step(20), repeat_gap(40);

/// Not a file that can be read from its beginning.
bool is_stream(const std::string& path) {
  return path.find("://") != std::string::npos || path.starts_with("topic:") ||
         path.starts_with("/dev/") || path.starts_with("camera:");
}

/// Reads files at the speed of their timestamps. One thread at a time.
class PacedInputs {
 public:
  PacedInputs(Inputs inputs, FrameSourceOptions reading, bool repeats)
      : inputs_(std::move(inputs)), reading_(std::move(reading)), repeats_(repeats) {}

  void cancel() noexcept { is_cancelled_ = true; }
  double rate() const noexcept { return inputs_.rate(); }

  Result<std::optional<Frame>> next() {
    auto read = inputs_.next();
    if (!read && read.error().code == Errc::cancelled) return std::optional<Frame>();
    HALYARD_TRY(auto frame, std::move(read));
    if (!frame && repeats_ && frames_ != 0) {
      HALYARD_TRY(inputs_, Inputs::open(inputs_.paths(), reading_));
      offset_ = last_ + repeat_gap;
      HALYARD_TRY(frame, inputs_.next());
    }
    if (!frame || is_cancelled_) return std::optional<Frame>();
    frame->timestamp += offset_;
    frame->index = frames_++;
    last_ = frame->timestamp;
    wait_for(last_);
    return frame;
  }

 private:
  void wait_for(std::chrono::nanoseconds when) {
    const auto now = Clock::now();
    if (frames_ == 1 || began_ + when + std::chrono::seconds(1) < now) began_ = now - when;
    while (!is_cancelled_ && Clock::now() < began_ + when)
      std::this_thread::sleep_for(
          std::min<Clock::duration>(wait_step, began_ + when - Clock::now()));
  }
  Inputs inputs_;
  FrameSourceOptions reading_;
  bool repeats_;
  std::atomic<bool> is_cancelled_{false};
  Clock::time_point began_{};
  std::chrono::nanoseconds offset_{0}, last_{0};
  std::size_t frames_ = 0;
};

}  // namespace

Result<PipelineSource> open_live_input(const std::vector<std::string>& paths,
                                       const FrameSourceOptions& reading, bool repeats) {
  const bool has_stream = std::any_of(paths.begin(), paths.end(), is_stream);
  if (has_stream && paths.size() > 1)
    return make_error(Errc::invalid_argument,
                      "a camera, an address or a topic must be the only input");
  if (has_stream) {
    HALYARD_TRY(auto source, PipelineSource::open(paths[0], reading));
    source.name = shown_name(paths[0]);
    return source;
  }
  HALYARD_TRY(auto inputs, Inputs::open(paths, reading));
  auto paced = std::make_shared<PacedInputs>(std::move(inputs), reading, repeats);
  PipelineSource out;
  out.name = paths.size() == 1 ? paths[0] : paths[0] + " and others";
  out.rate = paced->rate();
  out.next = [paced] { return paced->next(); };
  out.cancel = [paced] { paced->cancel(); };
  return out;
}

std::string shown_name(const std::string& input) {
  const auto scheme = input.find("://");
  if (scheme == std::string::npos) return input;
  const auto begin = scheme + 3;
  const auto at = input.substr(0, input.find('/', begin)).rfind('@');
  return at == std::string::npos || at < begin ? input
                                               : input.substr(0, begin) + input.substr(at + 1);
}

}  // namespace halyard::tool
