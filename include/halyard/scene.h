// SPDX-License-Identifier: Apache-2.0
// Scene: the results of a network and of a tracker for one frame, together.
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
  /// detections[i] belongs to tracks[i]: it has the track's smoothed box, score and label, and the
  /// `anchor` of the network's candidate, -1 for coasting tracks. What a network returns for single
  /// objects (rotated boxes, keypoints, rows of masks) exists for the first `live` of them, in the
  /// same order, as measured. Pass `detections.first(live)` to materialize().
  Decoded decoded;
  /// For tracks seen in this frame `detection` is their own index, for coasting ones -1. Tentative
  /// tracks are listed too: see Track::state.
  std::vector<Track> tracks;
  std::size_t live = 0;  ///< tracks seen in this frame
};

/// Reorders the rows of `decoded` so that row i is the one of live[i].detection, and drops all
/// others; then live[i].detection is i. No two tracks have the same detection. Allocates nothing.
void follow(std::span<Track> live, Decoded& decoded);

/// Decodes the outputs of the frame taken at `when` and updates the tracker. Boxes are in pixels of
/// the network's input. So use the tracker only for frames that are placed in the input in the same
/// way; else call decode_into(), Placement::to_source() and update() one after the other.
/// Detections that the tracker does not use are left out: those that neither continue nor start a
/// track because of their score, boxes that it ignores, and those above its max_tracks. Classes of
/// the image are returned unchanged.
///
/// Allocates nothing if an earlier frame had as many objects. Errors: those of decode_into() and of
/// Tracker::update(); then the tracker has not changed, and the content of `out` is of no use.
Status decode_tracked(const Decoder& decoder, Tracker& tracker, std::span<const Tensor> outputs,
                      std::chrono::nanoseconds when, TrackedFrame& out, std::size_t batch = 0);

}  // namespace halyard
HALYARD_EXPORTS_END
