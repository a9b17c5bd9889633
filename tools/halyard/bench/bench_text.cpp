// SPDX-License-Identifier: Apache-2.0
// bench_text().
#include <fmt/format.h>

#include "bench/bench_report.h"
#include "halyard/version.h"

namespace halyard::tool {
namespace {

std::string frames_text(const BenchReport& report) {
  if (!report.input) return {};
  const BenchInput& input = *report.input;
  const std::string kind =
      fmt::format("{} x {} {}", input.size.width, input.size.height, to_string(input.format));
  if (input.is_synthetic)
    return fmt::format("synthetic images, {}: nothing is read, and they show nothing to decode\n",
                       kind);
  const std::size_t more = input.paths.size() - 1;
  return fmt::format("{}{}: {}, read for each frame\n", input.paths[0],
                     more == 0 ? "" : fmt::format(" and {} more", more), kind);
}

std::string times_text(std::span<const BenchTimes> stages) {
  std::string out =
      fmt::format("    {:<10}{:>9}{:>9}{:>9}{:>9}\n", "ms", "p50", "p90", "p99", "mean");
  for (const BenchTimes& one : stages)
    out += fmt::format("    {:<10}{:>9.3f}{:>9.3f}{:>9.3f}{:>9.3f}\n", one.stage, one.p50, one.p90,
                       one.p99, one.mean);
  return out;
}

std::string run_text(const BenchRun& run) {
  return fmt::format(
             "  {} in flight: {} frames in {:.1f} s, {:.1f} a second, {:.1f} objects and "
             "{:.0f} copied bytes a frame\n",
             run.in_flight == 1 ? "1 frame" : fmt::format("{} frames", run.in_flight), run.frames,
             run.seconds, run.frames_per_s, run.objects_per_frame, run.copied_bytes_per_frame) +
         times_text(run.stages);
}

std::string comparison_text(const OpencvComparison& one) {
  std::string out = fmt::format(
      "  OpenCV {} and {} in Python {}, one frame at a time, in turn with Halyard, {} turns of {} "
      "frames\n",
      one.opencv, one.engine, one.python, one.turns, one.frames);
  out += times_text(one.stages);
  out +=
      fmt::format("    {:.2f} times as long as Halyard ({:.2f} to {:.2f}): {:.3f} ms for {:.3f}\n",
                  one.ratio, one.min_ratio, one.max_ratio, one.their_ms, one.our_ms);
  out += fmt::format("    boxes in {} images: {} and {}, {} the same within {:.1f} pixels\n",
                     one.images, one.boxes.theirs, one.boxes.ours, one.boxes.same,
                     one.boxes.largest_difference);
  return out;
}

std::string engine_text(const BenchEngine& engine) {
  if (engine.runs.empty()) return {};
  std::string out = fmt::format("\n{}, opened in {:.0f} ms\n", engine.runtime, engine.open_ms);
  for (const BenchRun& run : engine.runs)
    out += run_text(run);
  if (engine.comparison) out += comparison_text(*engine.comparison);
  if (!engine.not_compared.empty()) out += "  not compared: " + engine.not_compared + "\n";
  return out;
}

std::string reason_text(const BenchEngine& engine) {
  const std::string command = engine.install.empty() ? "" : fmt::format(": `{}`", engine.install);
  return fmt::format("{:<14}{}: {}{}\n", engine.name, to_string(engine.state), engine.reason,
                     command);
}

/// A line for each engine.
std::string summary_text(const BenchReport& report) {
  std::string out = fmt::format("\n{:<14}{:>12}{:>12}{:>12}{:>16}\n", "engine", "frame p50", "p99",
                                "a second", fmt::format("{} in flight", report.settings.in_flight));
  for (const BenchEngine& engine : report.engines) {
    if (engine.state != BenchState::measured || engine.runs.size() != 2) {
      out += reason_text(engine);
      continue;
    }
    const BenchRun &single = engine.runs[0], &several = engine.runs[1];
    const BenchTimes total = *find_stage(single.stages, "total");
    out += fmt::format("{:<14}{:>9.2f} ms{:>9.2f} ms{:>12.1f}{:>16.1f}\n", engine.name, total.p50,
                       total.p99, single.frames_per_s, several.frames_per_s);
  }
  return out;
}

}  // namespace

std::string bench_text(const BenchReport& report) {
  std::string out = fmt::format("halyard {} on {}\n", version(), describe_machine(report.machine));
  out += report.model + "\n" + frames_text(report);
  for (const BenchEngine& engine : report.engines)
    out += engine_text(engine);
  return out + summary_text(report);
}

}  // namespace halyard::tool
