// SPDX-License-Identifier: Apache-2.0
// Times of many frames, stage by stage, and what is told of them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halyard/pipeline.h"

namespace halyard::tool {

/// In milliseconds. Percentiles are exact: the value at rank ceil(share * count).
struct BenchTimes {
  std::string stage;
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double mean = 0;
};

/// Zeros if there are no values. Sorts `milliseconds`.
BenchTimes bench_times(std::string stage, std::vector<double>& milliseconds);

/// The middle value, or the mean of the two in the middle; 0 for no values.
double median(std::vector<double> values);

/// Collects the times of frames. Thread-bound.
class FrameTimes {
 public:
  /// Times of one frame: `load` of reading it; the stages of `frame.times` except "load"; and since
  /// frame.read, `latency`.
  void add(const PipelineFrame& frame, std::chrono::nanoseconds load,
           std::chrono::nanoseconds latency);
  /// "load", the stages in order of appearance, then:
  /// - "outside": the part of the latency that is in no stage;
  /// - "latency": from the frame's reading to behind its last stage, as Pipeline has it;
  /// - "total": load and latency.
  std::vector<BenchTimes> summary();

 private:
  std::vector<double>& column(std::string_view name);
  std::vector<std::pair<std::string, std::vector<double>>> columns_;
};

/// The times of this stage; null if there are none.
const BenchTimes* find_stage(std::span<const BenchTimes> stages, std::string_view name) noexcept;

}  // namespace halyard::tool
