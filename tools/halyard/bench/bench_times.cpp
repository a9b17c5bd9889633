// SPDX-License-Identifier: Apache-2.0
// A benchmark has few enough frames to keep all times.
#include "bench/bench_times.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "commands/stats.h"

namespace halyard::tool {
namespace {

double milliseconds_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

BenchTimes bench_times(std::string stage, std::vector<double>& milliseconds) {
  BenchTimes out{std::move(stage), percentile(milliseconds, 0.5), percentile(milliseconds, 0.9),
                 percentile(milliseconds, 0.99)};
  if (!milliseconds.empty())
    out.mean = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) /
               static_cast<double>(milliseconds.size());
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::vector<double>& FrameTimes::column(std::string_view name) {
  const auto same = [name](const auto& one) { return one.first == name; };
  const auto found = std::find_if(columns_.begin(), columns_.end(), same);
  if (found != columns_.end()) return found->second;
  return columns_.emplace_back(std::string(name), std::vector<double>()).second;
}

void FrameTimes::add(const PipelineFrame& frame, std::chrono::nanoseconds load,
                     std::chrono::nanoseconds latency) {
  column("load").push_back(milliseconds_of(load));
  std::chrono::nanoseconds inside{0};
  for (const StageTime& time : frame.times) {
    if (std::string_view(time.stage) == "load") continue;
    inside += time.duration;
    column(time.stage).push_back(milliseconds_of(time.duration));
  }
  column("outside").push_back(milliseconds_of(latency - inside));
  column("latency").push_back(milliseconds_of(latency));
  column("total").push_back(milliseconds_of(load + latency));
}

std::vector<BenchTimes> FrameTimes::summary() {
  std::vector<BenchTimes> out;
  for (auto& [name, times] : columns_)
    out.push_back(bench_times(name, times));
  return out;
}

const BenchTimes* find_stage(std::span<const BenchTimes> stages, std::string_view name) noexcept {
  const auto same = [name](const BenchTimes& one) { return one.stage == name; };
  const auto found = std::find_if(stages.begin(), stages.end(), same);
  return found == stages.end() ? nullptr : &*found;
}

}  // namespace halyard::tool
