// SPDX-License-Identifier: Apache-2.0
// oneTBB's parallel_pipeline with five filters, which pass the job as a pointer.
#include "pipeline.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_pipeline.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <algorithm>
#include <utility>

#include "halyard/threads.h"
#include "halyard/trace.h"
#include "interrupt.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// Names the worker threads for traces.
class ThreadNamer : public tbb::task_scheduler_observer {
 public:
  explicit ThreadNamer(tbb::task_arena& arena) : tbb::task_scheduler_observer(arena) {
    observe(true);
  }
  ~ThreadNamer() override { observe(false); }
  void on_scheduler_entry(bool is_worker) override {
    const int slot = tbb::this_task_arena::current_thread_index();
    if (is_worker) trace::set_thread_name(fmt::format("worker {}", slot));
  }
};

constexpr float outline_tolerance = 0.5F;  // pixels

/// Empty if the mask is empty.
std::vector<Point> largest_outline(const std::vector<Polygon>& polygons) {
  const Polygon* largest = nullptr;
  double area = 0;
  for (const Polygon& polygon : polygons) {
    const double its = polygon.is_hole ? 0 : polygon_area(polygon);
    if (its > area) area = its, largest = &polygon;
  }
  return largest == nullptr ? std::vector<Point>() : largest->points;
}

}  // namespace

Result<Outcome> Pipeline::run(std::size_t in_flight) {
  for (std::size_t i = 0; i < in_flight; ++i)
    HALYARD_RETURN_IF_ERROR(add_job());
  const InterruptGuard guard;
  execute(in_flight);
  outcome_.has_failed = has_failed_;
  outcome_.was_interrupted = InterruptGuard::is_requested();
  return outcome_;
}

Status Pipeline::add_job() {
  HALYARD_TRY(auto processor, Processor::create());
  auto job = std::make_unique<Job>(std::move(processor));
  HALYARD_TRY(job->input, parts_.detector.make_input());
  idle_.push_back(job.get());
  jobs_.push_back(std::move(job));
  return {};
}

void Pipeline::execute(std::size_t in_flight) {
  // oneTBB ends the process if it cannot start a thread, so startable_threads() is called first.
  const int cores = tbb::this_task_arena::max_concurrency();
  const auto others = startable_threads(static_cast<std::size_t>(std::max(cores - 1, 0)));
  tbb::task_arena arena(static_cast<int>(others) + 1);
  ThreadNamer namer(arena);
  const auto in_order = tbb::filter_mode::serial_in_order;
  const auto at_once = tbb::filter_mode::parallel;
  arena.execute([&] {
    tbb::parallel_pipeline(
        in_flight, tbb::make_filter<void, Job*>(in_order, [this](tbb::flow_control& flow) {
                     Job* job = load();
                     if (job == nullptr) flow.stop();
                     return job;
                   }) & tbb::make_filter<Job*, Job*>(at_once, [this](Job* job) {
                     return see(*job), job;
                   }) & tbb::make_filter<Job*, Job*>(in_order, [this](Job* job) {
                     return follow(*job), job;
                   }) & tbb::make_filter<Job*, Job*>(at_once, [this](Job* job) {
                     return encode(*job), job;
                   }) & tbb::make_filter<Job*, void>(in_order, [this](Job* job) { deliver(job); }));
  });
}

Job* Pipeline::load() {
  Job* job = nullptr;
  {
    const std::lock_guard lock(idle_mutex_);
    // There are as many jobs as frames in flight, so one is idle when a frame may start.
    job = idle_.back();
    idle_.pop_back();
  }
  job->record = {};
  job->found.clear();
  job->tracks.clear();
  job->has_failed = false;
  if (read_frame(*job)) return job;
  const std::lock_guard lock(idle_mutex_);
  idle_.push_back(job);
  return nullptr;
}

bool Pipeline::read_frame(Job& job) {
  const StageTimer timer(job, "load");
  while (!has_failed_ && !InterruptGuard::is_requested()) {
    const trace::Span span("run.load");
    auto frame = parts_.inputs.next();
    if (!frame) {
      // A read that Ctrl-C has ended is not a damaged input.
      if (InterruptGuard::is_requested()) return false;
      report(parts_.inputs.current(), frame.error());
      ++outcome_.damaged;
      continue;
    }
    if (!*frame) return false;
    job.frame = **std::move(frame);
    job.record.source = job.frame.source;
    job.record.index = job.frame.index;
    job.record.size = job.frame.image.upright_size();
    return true;
  }
  return false;
}

template <class Stage>
void Pipeline::guard(Job& job, const char* what, Stage stage) {
  if (job.has_failed || has_failed_) {
    job.has_failed = true;
    return;
  }
  if (Status done = stage(); !done) {
    job.has_failed = true;
    fail_run(*what == 0 ? job.record.source : what, done.error());
  }
}

void Pipeline::fail_run(const std::string& what, const Error& error) {
  const std::lock_guard lock(failure_mutex_);
  if (has_failed_.exchange(true)) return;  // only the first failure is reported
  report(what, error);
}

void Pipeline::see(Job& job) {
  guard(job, "", [&] { return parts_.detector.detect(job); });
  guard(job, "", [&] { return add_masks(job); });
  guard(job, "", [&] { return parts_.annotator.paint(job); });
}

Status Pipeline::add_masks(Job& job) {
  if (!parts_.has_masks || job.masks.empty()) return {};
  const StageTimer timer(job, "runs");
  for (std::size_t i = 0; i < job.found.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(rle_encode(job.masks[i], job.masks.frame(), job.rle));
    HALYARD_TRY(job.record.seen[i].mask, rle_to_string(job.rle));
    if (!parts_.has_outlines) continue;
    HALYARD_RETURN_IF_ERROR(mask_polygons(job.masks[i], job.polygons, outline_tolerance));
    job.record.seen[i].outline = largest_outline(job.polygons);
  }
  return {};
}

void Pipeline::follow(Job& job) {
  guard(job, "", [&]() -> Status {
    if (parts_.tracker == nullptr) return {};
    const StageTimer timer(job, "track");
    HALYARD_TRY(job.tracks, parts_.tracker->update(job.found, job.frame.timestamp));
    job.record.left_out = parts_.tracker->left_out();
    for (const Track& track : job.tracks) {
      const auto index = static_cast<std::size_t>(track.detection);
      if (track.detection >= 0 && index < job.record.seen.size())
        job.record.seen[index].track = track.id;
    }
    return {};
  });
  guard(job, "", [&] { return parts_.annotator.draw(job); });
}

void Pipeline::encode(Job& job) {
  guard(job, "", [&] { return parts_.annotator.encode(job); });
}

void Pipeline::deliver(Job* job) {
  guard(*job, "--out", [&] { return parts_.annotator.write(*job); });
  for (const auto& [option, writer] : parts_.results.entries())
    guard(*job, option.c_str(), [&] { return writer->add(job->record); });
  guard(*job, "", [&]() -> Status {
    ++outcome_.frames;
    parts_.stats.add(job->record);
    if (parts_.prints_lines) {
      parts_.progress.clear();
      print_line(summary_line(job->record, parts_.detector.labels()));
      if (parts_.inputs.is_single_image())
        for (const Seen& seen : job->record.seen)
          print_line(detail_line(seen, parts_.detector.labels()));
    }
    parts_.progress.update(outcome_.frames);
    return {};
  });
  guard(*job, "standard output", [] { return stdout_status(); });
  job->frame = {};  // the source may reuse its memory
  const std::lock_guard lock(idle_mutex_);
  idle_.push_back(job);
}

}  // namespace halyard::tool
