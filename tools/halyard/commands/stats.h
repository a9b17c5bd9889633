// SPDX-License-Identifier: Apache-2.0
// RunStats: how long each stage took, over all frames, and what came out.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "halyard/tensor.h"
#include "output/record.h"

namespace halyard::tool {

/// The value below which `share` of `values` lie (nearest rank); 0 for none. Sorts them.
double percentile(std::vector<double>& values, double share);

/// Thread-bound.
class RunStats {
 public:
  RunStats() : copies_before_(copy_stats()), copies_after_(copies_before_) {}
  void add(const FrameRecord& record);
  std::size_t frames() const noexcept { return frames_; }
  /// Detections that the tracker's limit has kept from it.
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
  CopyStats copies_after_;  // at the last frame: finishing files is no frame's work
};

}  // namespace halyard::tool
