// SPDX-License-Identifier: Apache-2.0
// Scene: what a network and a tracker know of one frame, together.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "halyard/decode.h"
#include "halyard/export.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/track.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The objects of one frame: first those seen in it, by id, then the coasting ones, by id. A value
/// to reuse: its vectors keep their memory.
struct TrackedFrame {
  /// detections[i] is tracks[i]: the track's smoothed box, its score and label; `anchor` of the
  /// network's candidate, -1 for coasting tracks. What a network gives of single objects (rotated
  /// boxes, keypoints, rows of masks) is there for the first `live` of them, in their order, as
  /// measured: `detections.first(live)` is what materialize() takes.
  Decoded decoded;
  /// Of tracks seen in this frame `detection` is their own index, of coasting ones -1. A tentative
  /// one is listed too: see Track::state.
  std::vector<Track> tracks;
  std::size_t live = 0;  ///< tracks seen in this frame
};

/// Decodes the outputs of the frame taken at `when` and moves the tracker to it. Boxes are in
/// pixels of the network's input, and so the tracker must only be used for frames that are placed
/// in it in the same way; else call decode_into(), Placement::to_source() and update() one after
/// the other. Detections that the tracker does not take up are left out: scores that continue and
/// start no track, boxes that it ignores, those beyond its max_tracks. Classes of the image are
/// given as they are.
///
/// Allocates nothing when an earlier frame was as full. Errors: those of decode_into() and of
/// Tracker::update(); the tracker is then as it was, and `out` holds nothing of use.
Status decode_tracked(const Decoder& decoder, Tracker& tracker, std::span<const Tensor> outputs,
                      std::chrono::nanoseconds when, TrackedFrame& out, std::size_t batch = 0);

}  // namespace halyard
HALYARD_EXPORTS_END
