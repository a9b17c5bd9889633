// SPDX-License-Identifier: Apache-2.0
// The source times its own reading: what the pipeline calls "load" includes the wait for the frame
// before it.
#include "bench/bench_run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "interrupt.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

class Measuring {
 public:
  Measuring(BenchFrames& frames, const BenchSettings& settings, FoundByFile* found)
      : frames_(frames),
        settings_(settings),
        found_(found),
        warm_up_(std::max({settings.warm_up, settings.in_flight, std::size_t{1}})) {}
  PipelineOptions options(const PipelineModel& model);
  Result<BenchRun> result();

 private:
  Result<std::optional<Frame>> next();
  bool has_enough();
  Status pass(PipelineFrame& frame);
  void count(const PipelineFrame& frame, Clock::time_point now);

  BenchFrames& frames_;
  const BenchSettings& settings_;
  FoundByFile* found_;
  std::size_t warm_up_;
  std::mutex mutex_;  ///< guards the rest
  std::condition_variable passed_;
  std::vector<std::chrono::nanoseconds> loads_;  ///< by PipelineFrame::ordinal
  std::size_t count_passed_ = 0;
  Clock::time_point begin_, last_;  ///< end of the warm-up, of the last frame
  CopyStats copies_before_, copies_after_;
  FrameTimes times_;
  std::size_t objects_ = 0;
  Status failure_;
};

bool Measuring::has_enough() {
  if (!failure_ || InterruptGuard::is_requested()) return true;
  if (settings_.frames != 0) return loads_.size() == warm_up_ + settings_.frames;
  return count_passed_ >= warm_up_ &&
         Clock::now() - begin_ >= std::chrono::duration<double>(settings_.seconds);
}

Result<std::optional<Frame>> Measuring::next() {
  {
    std::unique_lock lock(mutex_);
    if (settings_.in_flight == 1)
      passed_.wait(lock, [this] { return count_passed_ == loads_.size() || !failure_; });
    if (has_enough()) return std::optional<Frame>();
  }
  const auto start = Clock::now();
  auto frame = frames_.next();
  const auto load = Clock::now() - start;
  const std::lock_guard lock(mutex_);
  if (!frame) {
    failure_ = frame.error();
    return std::optional<Frame>();
  }
  if (*frame) loads_.push_back(load);
  return frame;
}

Status Measuring::pass(PipelineFrame& frame) {
  const auto now = Clock::now();
  const std::lock_guard lock(mutex_);
  if (frame.error) {
    failure_ = *frame.error;
  } else {
    count(frame, now);
  }
  passed_.notify_all();
  return failure_;
}

void Measuring::count(const PipelineFrame& frame, Clock::time_point now) {
  last_ = now;
  copies_after_ = copy_stats();
  const std::vector<Detection>& objects = frame.models[0].detections;
  if (++count_passed_ > warm_up_) {
    times_.add(frame, loads_[frame.ordinal], now - frame.read);
    objects_ += objects.size();
  }
  if (count_passed_ == warm_up_) {
    begin_ = now;
    copies_before_ = copies_after_;
  }
  if (found_ != nullptr) (*found_)[frame.frame.source] = objects;
}

PipelineOptions Measuring::options(const PipelineModel& model) {
  PipelineOptions out;
  PipelineSource& source = out.sources.emplace_back();
  source.name = "inputs";
  source.next = [this] { return next(); };
  source.is_live = frames_.is_live();
  out.models.push_back(model);
  out.in_flight = settings_.in_flight;
  if (settings_.is_tracking) out.tracker = ByteTrackOptions{};
  PipelineStage& last = out.stages.emplace_back();
  last.name = "measure";
  last.order = StageOrder::in_order;
  last.run = [this](PipelineFrame& frame) { return pass(frame); };
  last.sees_failed = true;
  last.stops_run = true;
  return out;
}

Result<BenchRun> Measuring::result() {
  if (!failure_) return failure_.error();
  if (InterruptGuard::is_requested()) return make_error(Errc::cancelled, "interrupted");
  if (count_passed_ <= warm_up_)
    return make_error(Errc::not_found, "the inputs ended before the warm-up");
  BenchRun out;
  out.in_flight = settings_.in_flight;
  out.frames = count_passed_ - warm_up_;
  const auto per_frame = [&](auto value) {
    return static_cast<double>(value) / static_cast<double>(out.frames);
  };
  out.seconds = std::chrono::duration<double>(last_ - begin_).count();
  out.frames_per_s = out.seconds > 0 ? static_cast<double>(out.frames) / out.seconds : 0;
  out.objects_per_frame = per_frame(objects_);
  out.copied_bytes_per_frame = per_frame(copies_after_.bytes - copies_before_.bytes);
  out.stages = times_.summary();
  return out;
}

}  // namespace

Result<BenchRun> bench_run(BenchFrames& frames, const PipelineModel& model,
                           const BenchSettings& settings, FoundByFile* found) {
  frames.rewind();
  Measuring measuring(frames, settings, found);
  HALYARD_TRY(auto pipeline, Pipeline::create(measuring.options(model)));
  HALYARD_RETURN_IF_ERROR(pipeline.start());
  // The stage has kept the error of a frame.
  static_cast<void>(pipeline.wait());
  return measuring.result();
}

}  // namespace halyard::tool
