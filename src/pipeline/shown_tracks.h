// SPDX-License-Identifier: Apache-2.0
// The tracks of a result that its frame shows.
#pragma once

#include <cstddef>

#include "halyard/pipeline.h"

namespace halyard::pipeline {

/// Calls visit(index of the detection, track) for each track with a detection of `result`.
template <class Visit>
void for_shown_tracks(const ModelResult& result, const Visit& visit) {
  for (const Track& track : result.tracks) {
    const auto index = static_cast<std::size_t>(track.detection);
    if (track.detection >= 0 && index < result.detections.size()) visit(index, track);
  }
}

}  // namespace halyard::pipeline
