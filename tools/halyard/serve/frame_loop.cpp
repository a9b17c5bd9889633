// SPDX-License-Identifier: Apache-2.0
#include "serve/frame_loop.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "commands/stats.h"
#include "halyard/trace.h"

namespace halyard::tool {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds pause_step(20);
constexpr std::size_t max_times = 512;

}  // namespace

Result<std::unique_ptr<FrameLoop>> FrameLoop::create(FrameLoopOptions options, Detector detector,
                                                     std::optional<ByteTrack> tracker,
                                                     LiveFeed& feed) {
  HALYARD_TRY(auto inputs, Inputs::open(options.inputs, options.reading));
  HALYARD_TRY(auto processor, Processor::create());
  auto job = std::make_unique<Job>(std::move(processor));
  HALYARD_TRY(job->input, detector.make_input());
  return std::unique_ptr<FrameLoop>(new FrameLoop(std::move(options), std::move(inputs),
                                                  std::move(detector), std::move(tracker), feed,
                                                  std::move(job)));
}

FrameLoop::FrameLoop(FrameLoopOptions options, Inputs inputs, Detector detector,
                     std::optional<ByteTrack> tracker, LiveFeed& feed, std::unique_ptr<Job> job)
    : options_(std::move(options)),
      inputs_(std::move(inputs)),
      detector_(std::move(detector)),
      tracker_(std::move(tracker)),
      feed_(feed),
      job_(std::move(job)) {}

FrameLoop::~FrameLoop() {
  stop();
}

Status FrameLoop::start(LiveStage& stage) {
  try {
    thread_ = std::thread([this, &stage] {
      trace::set_thread_name("frames");
      run(stage);
    });
  } catch (const std::system_error& error) {
    return make_error(Errc::exhausted, "the system starts no thread", error.what());
  }
  return {};
}

void FrameLoop::stop() {
  is_stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

LiveCounts FrameLoop::counts() const {
  const std::lock_guard lock(mutex_);
  LiveCounts out = counts_;
  const CopyStats copies = copy_stats();
  out.copies = copies.copies;
  out.copied_bytes = copies.bytes;
  for (const auto& [name, times] : times_) {
    std::vector<double> sorted = times;
    const double half = percentile(sorted, 0.5), most = percentile(sorted, 0.99);
    if (name == "latency") {
      out.latency_p50_us = half;
      out.latency_p99_us = most;
    } else {
      out.stages.push_back({name, half, most});
    }
  }
  return out;
}

Status FrameLoop::apply(const LiveControls& controls) {
  const std::lock_guard lock(mutex_);
  changed_ = controls;
  return {};
}

void FrameLoop::run(LiveStage& stage) {
  began_ = Clock::now();
  Status done;
  while (!is_stopping_ && done) {
    if (feed_.controls().is_paused) {
      std::this_thread::sleep_for(pause_step);
      began_ += pause_step;
      continue;
    }
    auto more = next();
    if (!more) {
      done = more.error();
      break;
    }
    if (!*more) break;
    done = step(stage);
  }
  const Error* error = done ? nullptr : &done.error();
  feed_.set_ended(error == nullptr ? "" : error->message());
  has_ended_ = true;
}

Result<bool> FrameLoop::next() {
  job_->record = {};
  job_->found.clear();
  job_->tracks.clear();
  while (true) {
    std::optional<Frame> frame;
    {
      const StageTimer timer(*job_, "load");
      read_ = Clock::now();
      HALYARD_TRY(frame, inputs_.next());
    }
    if (!frame && !options_.repeats) return false;
    if (frame) {
      frame->timestamp += offset_;
      last_ = frame->timestamp;
      job_->frame = *std::move(frame);
      return true;
    }
    if (index_ == 0) return make_error(Errc::invalid_argument, "there is no frame in the input");
    HALYARD_TRY(inputs_, Inputs::open(options_.inputs, options_.reading));
    offset_ = last_ + std::chrono::milliseconds(40);
    job_->record = {};
  }
}

/// A file is shown at its own speed. If frames take longer than that, its time is stretched.
void FrameLoop::wait_for_time() {
  const auto due = began_ + job_->frame.timestamp;
  const auto now = Clock::now();
  if (due + std::chrono::seconds(1) < now) began_ = now - job_->frame.timestamp;
  std::this_thread::sleep_until(due);
}

Status FrameLoop::step(LiveStage& stage) {
  wait_for_time();
  {
    const std::lock_guard lock(mutex_);
    if (changed_) HALYARD_RETURN_IF_ERROR(detector_.set_thresholds(changed_->score, changed_->iou));
    changed_.reset();
  }
  HALYARD_RETURN_IF_ERROR(detector_.detect(*job_));
  HALYARD_RETURN_IF_ERROR(follow());
  LiveScene scene{job_->frame.image, job_->found, &job_->decoded, nullptr, job_->tracks};
  scene.placement = &job_->placement;
  {
    const StageTimer timer(*job_, "show");
    HALYARD_RETURN_IF_ERROR(stage.see(scene, numbers()));
  }
  count_stages();
  job_->decoded.masks.prototypes = {};  // the engine's memory
  job_->frame = {};
  ++index_;
  return {};
}

Status FrameLoop::follow() {
  if (!tracker_) return {};
  const StageTimer timer(*job_, "track");
  return tracker_->update(job_->found, job_->frame.timestamp, job_->tracks);
}

LiveFrame FrameLoop::numbers() {
  LiveFrame out;
  out.index = index_;
  out.read = read_;
  out.size = job_->frame.image.upright_size();
  double at = 0;
  for (const auto& [stage, microseconds] : job_->record.timing_us) {
    out.stages.push_back({stage, at, microseconds});
    at += microseconds;
  }
  for (const Detection& found : job_->found)
    out.labels.push_back(found.label);
  out.tracks = static_cast<std::size_t>(
      std::count_if(job_->tracks.begin(), job_->tracks.end(),
                    [](const Track& track) { return track.detection >= 0; }));
  return out;
}

void FrameLoop::count_stages() {
  const std::lock_guard lock(mutex_);
  ++counts_.read;
  double sum = 0;
  const auto add = [this](const std::string& name, double time) {
    auto stage = std::find_if(times_.begin(), times_.end(),
                              [&](const auto& known) { return known.first == name; });
    if (stage == times_.end()) stage = times_.insert(times_.end(), {name, {}});
    if (stage->second.size() == max_times) stage->second.erase(stage->second.begin());
    stage->second.push_back(time);
  };
  for (const auto& [name, time] : job_->record.timing_us) {
    add(name, time);
    sum += time;
  }
  add("latency", sum);
}

}  // namespace halyard::tool
