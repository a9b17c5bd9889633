// SPDX-License-Identifier: Apache-2.0
// Pipeline: runs the stages of several frames at the same time and keeps the frames' order.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "commands/stats.h"
#include "halyard/track.h"
#include "input/detector.h"
#include "input/inputs.h"
#include "output/annotator.h"
#include "output/result_files.h"
#include "progress.h"

namespace halyard::tool {

/// All parts of a run; the pipeline borrows them.
struct PipelineParts {
  Inputs& inputs;
  Detector& detector;
  ByteTrack* tracker = nullptr;  ///< null: no tracking
  Annotator& annotator;
  ResultFiles& results;
  Progress& progress;
  RunStats& stats;
  bool has_masks = false;  ///< a result file holds masks
  bool has_outlines = false;
  bool prints_lines = false;
};

/// How a run ended.
struct Outcome {
  std::size_t frames = 0;
  std::size_t damaged = 0;  ///< inputs that had an error, each reported
  bool has_failed = false;  ///< a stage failed and was reported; outputs are not complete
  bool was_interrupted = false;
};

/// Source and sink handle the frames in order; so do tracking and drawing, which depend on earlier
/// frames. The other stages run for up to `in_flight` frames at the same time. Thread-bound.
class Pipeline {
 public:
  explicit Pipeline(PipelineParts parts) : parts_(parts) {}
  /// Errors: those of creating `in_flight` jobs.
  Result<Outcome> run(std::size_t in_flight);

 private:
  Status add_job();
  void execute(std::size_t in_flight);
  Job* load();                 // null: no more frames
  void see(Job& job);          // for any number of jobs at once
  Status add_masks(Job& job);  // adds them to the record
  void follow(Job& job);       // in order
  void encode(Job& job);       // for any number of jobs at once
  void deliver(Job* job);      // in order
  bool read_frame(Job& job);
  /// Runs a stage unless the job or the run has failed; a failure ends the run. `what` names an
  /// option in the report; empty: the frame's source.
  template <class Stage>
  void guard(Job& job, const char* what, Stage stage);
  void fail_run(const std::string& what, const Error& error);

  PipelineParts parts_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::mutex idle_mutex_;
  std::vector<Job*> idle_;
  std::mutex failure_mutex_;
  std::atomic<bool> has_failed_{false};
  Outcome outcome_;
};

}  // namespace halyard::tool
