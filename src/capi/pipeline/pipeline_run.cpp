// SPDX-License-Identifier: Apache-2.0
// Pipelines in C: running, results and statistics.
#include <algorithm>
#include <chrono>
#include <utility>

#include "capi/error.h"
#include "capi/pipeline/pipelines.h"

namespace halyard::capi {
namespace {

Result<Pipeline*> running(const hal_pipeline* pipeline) {
  HALYARD_TRY(const hal_pipeline* const found, checked(pipeline, "pipeline"));
  if (found->pipeline != nullptr) return found->pipeline.get();
  return make_error(Errc::invalid_argument, "pipeline: was not started");
}

Result<int> start(hal_pipeline* pipeline) {
  HALYARD_TRY(hal_pipeline* const found, checked(pipeline, "pipeline"));
  if (found->pipeline != nullptr) return make_error(Errc::exists, "pipeline: was started before");
  HALYARD_TRY(auto made, Pipeline::create(found->options));
  auto kept = std::make_unique<Pipeline>(std::move(made));
  HALYARD_RETURN_IF_ERROR(kept->start());
  found->pipeline = std::move(kept);
  return 0;
}

Result<int> next(const hal_pipeline* pipeline, std::int64_t timeout_ns, hal_pipeline_frame** out) {
  if (out == nullptr) return null_argument("out: is NULL");
  HALYARD_RETURN_IF_ERROR(aligned(out, "out"));
  *out = nullptr;
  HALYARD_TRY(Pipeline* const from, running(pipeline));
  auto frame = std::make_unique<hal_pipeline_frame>();
  HALYARD_TRY(auto taken, from->next(std::chrono::nanoseconds(timeout_ns)));
  if (!taken) return 0;
  refer_to(*frame, **taken);
  frame->taken = std::move(taken);
  *out = frame.release();
  return 1;
}

template <class F>
int run(const hal_pipeline* pipeline, F&& call) {
  return guarded_use([&] { return running(pipeline); }, call);
}

template <std::size_t size>
void copy_text(const std::string& from, char (&to)[size]) {
  std::copy_n(from.data(), std::min(from.size(), size - 1), to);
}

hal_pipeline_stage_stats stage_to_c(const StageStats& stats) {
  hal_pipeline_stage_stats out = {.name = {},
                                  .frames = stats.frames,
                                  .errors = stats.errors,
                                  .p50_ns = stats.p50.count(),
                                  .p99_ns = stats.p99.count(),
                                  .max_ns = stats.max.count(),
                                  .total_ns = stats.total.count()};
  copy_text(stats.name, out.name);
  return out;
}

hal_pipeline_source_stats source_to_c(const SourceStats& stats) {
  hal_pipeline_source_stats out = {.name = {},
                                   .read = stats.read,
                                   .errors = stats.errors,
                                   .dropped = stats.dropped,
                                   .skipped = stats.skipped,
                                   .failed = stats.failed,
                                   .delivered = stats.delivered,
                                   .has_ended = stats.has_ended,
                                   .last_error = {}};
  copy_text(stats.name, out.name);
  copy_text(stats.last_error, out.last_error);
  return out;
}

hal_pipeline_stats stats_to_c(const PipelineStats& stats) {
  return {.sources = stats.sources.size(),
          .stages = stats.stages.size(),
          .latency = stage_to_c(stats.latency),
          .detections = stats.detections,
          .elapsed_ns = stats.elapsed.count(),
          .in_flight = stats.in_flight,
          .copies = stats.copies.copies,
          .copied_bytes = stats.copies.bytes};
}

/// Writes convert(stats) at `out`.
template <class Out, class F>
int get_stats(const hal_pipeline* pipeline, Out* out, F&& convert) {
  return guarded<int>(-1, [&]() -> Result<int> {
    HALYARD_TRY(Pipeline* const found, running(pipeline));
    if (out == nullptr) return null_argument("out: is NULL");
    HALYARD_RETURN_IF_ERROR(aligned(out, "out"));
    return convert(found->stats());
  });
}

template <class Items, class Out, class F>
Result<int> get_at(const Items& items, std::size_t index, Out* out, F&& to_c) {
  if (index >= items.size()) {
    return make_error(Errc::invalid_argument, "index: is beyond the end",
                      std::to_string(index) + " of " + std::to_string(items.size()));
  }
  *out = to_c(items[index]);
  return 0;
}

}  // namespace
}  // namespace halyard::capi

using namespace halyard;
using capi::guarded;
using capi::is_valid;

int hal_pipeline_start(hal_pipeline* pipeline) {
  return guarded<int>(-1, [&] { return capi::start(pipeline); });
}

int hal_pipeline_next(const hal_pipeline* pipeline, int64_t timeout_ns, hal_pipeline_frame** out) {
  return guarded<int>(-1, [&] { return capi::next(pipeline, timeout_ns, out); });
}

int hal_pipeline_wait(const hal_pipeline* pipeline) {
  return capi::run(pipeline, [](Pipeline& p) { return p.wait(); });
}

int hal_pipeline_drain(const hal_pipeline* pipeline) {
  return capi::run(pipeline, [](Pipeline& p) { return p.drain(); });
}

int hal_pipeline_stop(const hal_pipeline* pipeline) {
  return capi::run(pipeline, [](Pipeline& p) { return p.stop(); });
}

int hal_pipeline_set_paused(const hal_pipeline* pipeline, bool is_paused) {
  return capi::run(pipeline, [&](Pipeline& p) { return p.set_paused(is_paused), Status(); });
}

bool hal_pipeline_is_paused(const hal_pipeline* pipeline) {
  return is_valid(pipeline) && pipeline->pipeline != nullptr && pipeline->pipeline->is_paused();
}

int hal_pipeline_get_stats(const hal_pipeline* pipeline, hal_pipeline_stats* out) {
  return capi::get_stats(pipeline, out, [&](const PipelineStats& stats) -> Result<int> {
    *out = capi::stats_to_c(stats);
    return 0;
  });
}

int hal_pipeline_get_source_stats(const hal_pipeline* pipeline, size_t source,
                                  hal_pipeline_source_stats* out) {
  return capi::get_stats(pipeline, out, [&](const PipelineStats& stats) {
    return capi::get_at(stats.sources, source, out, capi::source_to_c);
  });
}

int hal_pipeline_get_stage_stats(const hal_pipeline* pipeline, size_t stage,
                                 hal_pipeline_stage_stats* out) {
  return capi::get_stats(pipeline, out, [&](const PipelineStats& stats) {
    return capi::get_at(stats.stages, stage, out, capi::stage_to_c);
  });
}

const char* hal_pipeline_label(const hal_pipeline* pipeline, size_t model, size_t label) {
  if (!is_valid(pipeline) || model >= pipeline->labels.size()) return nullptr;
  const auto& labels = pipeline->labels[model];
  return label < labels.size() ? labels[label].c_str() : nullptr;
}
