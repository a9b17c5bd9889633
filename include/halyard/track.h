// SPDX-License-Identifier: Apache-2.0
// Track: detections of successive frames to objects with identities.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One object over time.
struct Track {
  std::uint64_t id = 0;    ///< from 1, in order of appearance; never reused by one tracker
  Box box;                 ///< the filter's estimate after this frame, in the detections' pixels
  float score = 0;         ///< of the last associated detection
  std::int32_t label = 0;  ///< of the last associated detection
  std::int32_t detection = -1;  ///< index into the last update's detections, -1: coasting
  std::uint32_t updates = 0;    ///< associated detections so far, the first counted
  std::chrono::nanoseconds created{0};
  std::chrono::nanoseconds last_seen{0};
};

/// ByteTrack: Kalman prediction, then two passes of optimal assignment by IoU: first the detections
/// of a high score, then what is left of all. Classes are not compared. A pass makes as many pairs
/// as it can, of least total (1.5 - score) + (1.5 - IoU).
///
/// Deterministic: same input, same output. Units cancel out: pixels or fractions, not mixed.
/// One tracker serves one thread at a time. Formulas: src/track/kalman.h.
class ByteTrack {
 public:
  struct Options {
    float high_score = 0.7F;    ///< first pass, and needed to start a track; [0, 1]
    float min_iou = 0.25F;      ///< least IoU for a pair in either pass; [0, 1]
    float update_gain = 0.25F;  ///< share of the optimal correction taken over; (0, 1]
    /// A track unseen for longer is dropped, after the frame that could have found it again; >= 0.
    std::chrono::nanoseconds max_coast{500'000'000};
    /// The step that the filter's noise figures are for; > 0. Motion follows the times passed to
    /// update(), whatever the frame rate; this says how far objects change their ways meanwhile.
    std::chrono::nanoseconds frame_interval{33'333'333};
  };
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<ByteTrack> create(Options options);
  static Result<ByteTrack> create() { return create(Options{}); }
  ByteTrack(ByteTrack&&) noexcept;
  ByteTrack& operator=(ByteTrack&&) noexcept;
  ~ByteTrack();

  /// Moves to the frame taken at `when` and associates its detections. Returns all living tracks,
  /// by id; those seen in this frame have detection >= 0. Detections whose box is not finite, empty
  /// or inverted, or whose score is not finite or negative, are ignored. Errors: invalid_argument
  /// (`when` before the last update).
  Result<std::vector<Track>> update(std::span<const Detection> detections,
                                    std::chrono::nanoseconds when);

  /// The tracks as of the last update.
  const std::vector<Track>& tracks() const noexcept;

 private:
  struct Impl;
  explicit ByteTrack(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
