// SPDX-License-Identifier: Apache-2.0
// bench_json(). Scripts depend on the JSON: keys are added, never renamed.
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/bench_report.h"
#include "halyard/version.h"
#include "input/json_document.h"

namespace halyard::tool {
namespace {

double rounded(double value) {
  return std::round(value * 1e4) / 1e4;
}

Json times_json(std::span<const BenchTimes> stages) {
  Json out = Json::array();
  for (const BenchTimes& one : stages)
    out.push_back({{"stage", one.stage},
                   {"p50_ms", rounded(one.p50)},
                   {"p90_ms", rounded(one.p90)},
                   {"p99_ms", rounded(one.p99)},
                   {"mean_ms", rounded(one.mean)}});
  return out;
}

Json run_json(const BenchRun& run) {
  return {{"in_flight", run.in_flight},
          {"frames", run.frames},
          {"seconds", rounded(run.seconds)},
          {"frames_per_s", rounded(run.frames_per_s)},
          {"objects_per_frame", rounded(run.objects_per_frame)},
          {"copied_bytes_per_frame", rounded(run.copied_bytes_per_frame)},
          {"stages", times_json(run.stages)}};
}

Json comparison_json(const OpencvComparison& one) {
  return {{"python", one.python},
          {"opencv", one.opencv},
          {"engine", one.engine},
          {"images", one.images},
          {"turns", one.turns},
          {"frames", one.frames},
          {"our_ms", rounded(one.our_ms)},
          {"their_ms", rounded(one.their_ms)},
          {"ratio", rounded(one.ratio)},
          {"min_ratio", rounded(one.min_ratio)},
          {"max_ratio", rounded(one.max_ratio)},
          {"stages", times_json(one.stages)},
          {"our_boxes", one.boxes.ours},
          {"their_boxes", one.boxes.theirs},
          {"same_boxes", one.boxes.same},
          {"largest_difference", rounded(one.boxes.largest_difference)}};
}

Json engine_json(const BenchEngine& engine) {
  Json out{{"name", engine.name}, {"state", to_string(engine.state)}};
  if (!engine.reason.empty()) out["reason"] = engine.reason;
  if (!engine.install.empty()) out["install"] = engine.install;
  if (!engine.runtime.empty()) {
    out["runtime"] = engine.runtime;
    out["open_ms"] = rounded(engine.open_ms);
  }
  out["runs"] = Json::array();
  for (const BenchRun& run : engine.runs)
    out["runs"].push_back(run_json(run));
  if (engine.comparison) out["comparison"] = comparison_json(*engine.comparison);
  if (!engine.not_compared.empty()) out["not_compared"] = engine.not_compared;
  return out;
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  Json out = json_document(Json::object());
  out["version"] = version();
  const MachineFacts& machine = report.machine;
  out["machine"] = {{"cpu", machine.cpu},
                    {"processors", machine.processors},
                    {"usable_processors", machine.usable_processors},
                    {"load", rounded(machine.load)}};
  out["model"] = report.model;
  if (report.input) {
    const BenchInput& input = *report.input;
    out["input"] = {{"synthetic", input.is_synthetic},
                    {"sources", input.paths},
                    {"width", input.size.width},
                    {"height", input.size.height},
                    {"format", to_string(input.format)}};
  }
  out["device"] = report.device;
  out["threads"] = report.threads;
  out["engines"] = Json::array();
  for (const BenchEngine& engine : report.engines)
    out["engines"].push_back(engine_json(engine));
  return json_text(out, 2);
}

}  // namespace halyard::tool
