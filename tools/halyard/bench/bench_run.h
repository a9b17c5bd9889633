// SPDX-License-Identifier: Apache-2.0
// BenchRun: a model run on many frames, with one of them in flight or several.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "bench/bench_frames.h"
#include "bench/bench_times.h"
#include "halyard/detection.h"
#include "halyard/pipeline.h"

namespace halyard::tool {

struct BenchSettings {
  std::size_t in_flight = 4;
  std::size_t warm_up = 10;  ///< frames that are left out; at least as many as are in flight
  std::size_t frames = 0;    ///< that are measured; 0: as many as `seconds` allow
  double seconds = 3;
  bool is_tracking = false;
};

/// What was measured, without the frames of the warm-up.
struct BenchRun {
  std::size_t in_flight = 0;
  std::size_t frames = 0;
  double seconds = 0;  ///< from the end of the warm-up to the last frame
  double frames_per_s = 0;
  double objects_per_frame = 0;
  double copied_bytes_per_frame = 0;
  std::vector<BenchTimes> stages;  ///< as FrameTimes::summary()
};

/// What was found in each image, by the name of its file.
using FoundByFile = std::map<std::string, std::vector<Detection>>;

/// Runs the frames from the first one through a pipeline. With one frame in flight the next one is
/// read when the last one has passed. `found`, unless null, gets the objects of each frame.
/// Errors: those of Pipeline::create(), start() and of the first frame that fails; cancelled (an
/// interrupt was requested); not_found (the inputs ended before the warm-up).
Result<BenchRun> bench_run(BenchFrames& frames, const PipelineModel& model,
                           const BenchSettings& settings, FoundByFile* found = nullptr);

}  // namespace halyard::tool
