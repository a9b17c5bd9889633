// SPDX-License-Identifier: Apache-2.0
// RunStats: the times of each stage over all frames, and counts of the results.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "halyard/tensor.h"
#include "output/record.h"

namespace halyard::tool {

/// The value at rank ceil(`share` * count) (nearest rank); 0 for no values. Sorts `values`.
double percentile(std::vector<double>& values, double share);

/// Statistics of one run. Thread-bound.
class RunStats {
 public:
  RunStats() : copies_before_(copy_stats()), copies_after_(copies_before_) {}
  void add(const FrameRecord& record);
  std::size_t frames() const noexcept { return frames_; }
  /// Detections that the tracker left out because of its limit.
  std::size_t left_out() const noexcept { return left_out_; }
  /// Several lines: stages with p50, p99 and share; frames, detections, tracks, copies.
  std::string table(double wall_seconds);

 private:
  std::vector<std::pair<std::string, std::vector<double>>> stages_;  // in order of appearance
  std::set<std::uint64_t> tracks_;
  std::size_t frames_ = 0;
  std::size_t detections_ = 0;
  std::size_t left_out_ = 0;
  CopyStats copies_before_;
  CopyStats copies_after_;  // at the last frame: finishing files does not count
};

}  // namespace halyard::tool
