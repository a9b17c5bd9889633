// SPDX-License-Identifier: Apache-2.0
// Trackers: one tracker for each source and model.
#pragma once

#include <cstddef>
#include <vector>

#include "halyard/pipeline.h"
#include "halyard/track.h"
#include "pipeline/lane.h"

namespace halyard::pipeline {

/// One thread at a time, in the order of frames.
class Trackers {
 public:
  /// Errors: those of creating a tracker.
  static Result<Trackers> create(const TrackerOptions& options, std::size_t sources,
                                 std::size_t models);
  bool is_empty() const noexcept { return trackers_.empty(); }
  /// Fills the tracks of all results. A result that is skipped, or a frame with an error, gets the
  /// tracks of the frame before it, coasting. Errors: those of Tracker::update().
  Status update(PipelineFrame& frame);

 private:
  std::size_t models_ = 0;
  std::vector<Tracker> trackers_;  ///< of source 0 for all models, then of source 1
};

}  // namespace halyard::pipeline
