// SPDX-License-Identifier: Apache-2.0
// Percentiles are exact: a run has few enough frames to keep all times.
#include "commands/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace halyard::tool {

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

void RunStats::add(const FrameRecord& record) {
  ++frames_;
  copies_after_ = copy_stats();
  detections_ += record.objects.size();
  left_out_ += record.left_out;
  for (const FrameObject& seen : record.objects)
    if (seen.track) tracks_.insert(*seen.track);
  for (const auto& [name, microseconds] : record.timing_us) {
    const auto same = [&name = name](const auto& stage) { return stage.first == name; };
    auto stage = std::find_if(stages_.begin(), stages_.end(), same);
    if (stage == stages_.end()) stage = stages_.insert(stages_.end(), {name, {}});
    stage->second.push_back(microseconds);
  }
}

std::string RunStats::table(double wall_seconds) {
  double sum_all = 0;
  for (const auto& [name, times] : stages_)
    for (const double time : times)
      sum_all += time;
  std::string out = fmt::format("{:<10}{:>12}{:>12}{:>8}\n", "stage", "p50 us", "p99 us", "share");
  for (auto& [name, times] : stages_) {
    double sum = 0;
    for (const double time : times)
      sum += time;
    out += fmt::format("{:<10}{:>12.0f}{:>12.0f}{:>7.1f}%\n", name, percentile(times, 0.5),
                       percentile(times, 0.99), sum_all > 0 ? 100 * sum / sum_all : 0);
  }
  const auto per_frame = [&](std::uint64_t count) {
    return frames_ == 0 ? 0.0 : static_cast<double>(count) / static_cast<double>(frames_);
  };
  const double rate = wall_seconds > 0 ? static_cast<double>(frames_) / wall_seconds : 0;
  out += fmt::format("frames {} ({:.1f} a second)\n", frames_, rate);
  out += fmt::format("detections {}\n", detections_);
  if (!tracks_.empty()) out += fmt::format("tracks {}\n", tracks_.size());
  if (left_out_ != 0) out += fmt::format("detections left out {}\n", left_out_);
  out += fmt::format("copies per frame {:.1f} ({:.0f} bytes)",
                     per_frame(copies_after_.copies - copies_before_.copies),
                     per_frame(copies_after_.bytes - copies_before_.bytes));
  return out;
}

}  // namespace halyard::tool
