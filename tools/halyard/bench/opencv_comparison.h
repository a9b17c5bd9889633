// SPDX-License-Identifier: Apache-2.0
// The same work done by Halyard and by the loop of opencv_loop.py, in turn.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "bench/bench_run.h"
#include "bench/bench_times.h"
#include "halyard/detection.h"
#include "halyard/pipeline.h"

namespace halyard::tool {

/// How far the boxes of two programs are the same.
struct BoxAgreement {
  std::size_t ours = 0;
  std::size_t theirs = 0;
  std::size_t same = 0;           ///< pairs of one class with an IoU of at least 0.8
  double largest_difference = 0;  ///< of a coordinate of these pairs, in pixels
};

/// Adds the boxes of one image. Each box is in one pair at most.
void compare_boxes(std::span<const Detection> ours, std::span<const Detection> theirs,
                   BoxAgreement& agreement);

struct OpencvComparison {
  std::string python, opencv, engine;  ///< with versions
  std::size_t images = 0;              ///< files
  std::size_t turns = 0;
  std::size_t frames = 0;  ///< of each turn and program
  /// Medians over the turns of the turn's median time of a frame, reading included.
  double our_ms = 0;
  double their_ms = 0;
  /// Theirs over ours: the median, the smallest and the largest of the turns' own ratios.
  double ratio = 0, min_ratio = 0, max_ratio = 0;
  std::vector<BenchTimes> stages;  ///< theirs, over all turns; the last is "total"
  BoxAgreement boxes;
};

struct ComparisonSettings {
  std::string python = "python3";
  unsigned threads = 0;
  std::string device = "CPU";
  double seconds = 3;  ///< of each program, over all turns
};

/// Runs image files of `frames`, 100 at most, through both, one frame at a time, in alternating
/// turns. Errors: unsupported (inputs that are not image files; a head that the loop does not read;
/// a package that is missing: the message names it), those of bench_run(), OpencvLoop::start() and
/// ask().
Result<OpencvComparison> compare_with_opencv(const BenchFrames& frames, const PipelineModel& model,
                                             const ComparisonSettings& settings);

}  // namespace halyard::tool
