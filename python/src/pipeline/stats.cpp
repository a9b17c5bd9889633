// SPDX-License-Identifier: Apache-2.0
// Pipeline::stats() in Python: times in milliseconds.
#include "pipeline/pipeline.h"

namespace halyard::python {
namespace {

double in_milliseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

nb::dict stage_dict(const StageStats& stage) {
  nb::dict out;
  out["name"] = str_of(stage.name);
  out["frames"] = stage.frames;
  out["errors"] = stage.errors;
  out["p50"] = in_milliseconds(stage.p50);
  out["p99"] = in_milliseconds(stage.p99);
  out["max"] = in_milliseconds(stage.max);
  out["total"] = in_milliseconds(stage.total);
  return out;
}

nb::dict source_dict(const SourceStats& source) {
  nb::dict out;
  out["name"] = str_of(source.name);
  out["read"] = source.read;
  out["errors"] = source.errors;
  out["dropped"] = source.dropped;
  out["skipped"] = source.skipped;
  out["failed"] = source.failed;
  out["delivered"] = source.delivered;
  out["has_ended"] = source.has_ended;
  out["last_error"] = str_of(source.last_error);
  return out;
}

}  // namespace

nb::dict stats_of(PyPipeline& self) {
  const PipelineStats stats = released([value = self.get()] { return value->stats(); });
  nb::list sources, stages;
  for (const SourceStats& source : stats.sources)
    sources.append(source_dict(source));
  for (const StageStats& stage : stats.stages)
    stages.append(stage_dict(stage));
  nb::dict out;
  out["sources"] = sources;
  out["stages"] = stages;
  out["latency"] = stage_dict(stats.latency);
  out["detections"] = stats.detections;
  out["elapsed"] = in_milliseconds(stats.elapsed) / 1e3;
  out["in_flight"] = stats.in_flight;
  out["copies"] = stats.copies.copies;
  out["copied_bytes"] = stats.copies.bytes;
  return out;
}

}  // namespace halyard::python
