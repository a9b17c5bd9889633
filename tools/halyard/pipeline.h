// SPDX-License-Identifier: Apache-2.0
// The pipeline of `run`: the frames of all inputs through one model, to drawings and files.
#pragma once

#include <cstddef>
#include <string>

#include "commands/stats.h"
#include "halyard/frame_record.h"
#include "halyard/pipeline.h"
#include "input/inputs.h"
#include "output/annotator.h"
#include "output/result_files.h"
#include "progress.h"

namespace halyard::tool {

/// All parts of a run; it borrows them.
struct RunParts {
  Inputs& inputs;
  const PipelineModel& model;
  TrackerOptions tracker;
  Annotator& annotator;
  ResultFiles& results;
  Progress& progress;
  RunStats& stats;
  RecordOptions record;
  bool prints_lines = false;
  std::string out;      ///< --out, for messages
  std::string publish;  ///< a topic; empty: none
  OverloadPolicy on_overload = OverloadPolicy::wait;
  bool is_live = false;  ///< a status line instead of the progress
};

/// How a run ended.
struct Outcome {
  std::size_t frames = 0;
  std::size_t damaged = 0;  ///< inputs that had an error, each reported
  bool has_failed = false;  ///< a stage failed and was reported; outputs are not complete
  bool was_interrupted = false;
};

/// Reports its own failures. Runs until the inputs end, a stage fails, or an interrupt is
/// requested. Errors: those of Pipeline::create() and start().
Result<Outcome> run_frames(const RunParts& parts, std::size_t in_flight);

}  // namespace halyard::tool
