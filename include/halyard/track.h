// SPDX-License-Identifier: Apache-2.0
// Track: detections of successive frames to objects with identities. Four trackers, one interface.
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

/// - tentative: too new to be trusted;
/// - tracked: seen in the last frame;
/// - lost: not seen in the last frame, its box is a prediction;
/// - removed: ended with the last update; only Tracker::removed() shows these.
enum class TrackState : std::uint8_t { tentative = 0, tracked = 1, lost = 2, removed = 3 };

/// One object over time. A name that is unique beyond one tracker: uuid_v4(seed, id) of uuid.h.
struct Track {
  std::uint64_t id = 0;    ///< from 1, in order of appearance; never reused by one tracker
  Box box;                 ///< the filter's estimate after this frame, in the detections' pixels
  float score = 0;         ///< of the last associated detection
  std::int32_t label = 0;  ///< of the last associated detection
  std::int32_t detection = -1;  ///< index into the last update's detections, -1: coasting
  std::uint32_t updates = 0;    ///< associated detections so far, the first counted
  std::chrono::nanoseconds created{0};
  std::chrono::nanoseconds last_seen{0};
  TrackState state = TrackState::tracked;
};

/// Reorders tracks: those with a detection first, each part by id. Returns how many those are.
/// Allocates nothing.
std::size_t seen_first(std::span<Track> tracks) noexcept;

/// A tracker of any kind: made by ByteTrack, OcSort or Sort below, used alike.
///
/// Deterministic: same input, same output. Boxes may be pixels or fractions, not mixed; sides from
/// 1e-9, coordinates within +-1e9. Motion follows the times passed to update(), whatever the frame
/// rate. One tracker serves one thread at a time. Options that all kinds share:
/// - max_coast: a track unseen for longer is removed, after the frame that could have found it
///   again; >= 0;
/// - frame_interval: the step that the filter's noise figures are for; > 0. It says how far objects
///   change their ways between two frames, not when frames come;
/// - is_class_aware: a detection only continues a track of its own label;
/// - max_tracks: no more live at once, and no more detections of a frame are looked at, those of
///   the highest score first; 1..65536. Bounds the worst case, max_tracks^3 steps, of a frame in
///   which everything overlaps.
class Tracker {
 public:
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;
  ~Tracker();

  /// Moves to the frame taken at `when` and associates its detections. Returns all living tracks,
  /// by id; those seen in this frame have detection >= 0. Detections whose box is not finite,
  /// empty, inverted or outside the limits above, or whose score is not finite or negative, are
  /// ignored. Errors: invalid_argument (`when` before the last update), after which nothing has
  /// changed.
  Result<std::vector<Track>> update(std::span<const Detection> detections,
                                    std::chrono::nanoseconds when);
  /// The same into a list to reuse. Allocates nothing when neither this nor an earlier list of
  /// detections or tracks was longer.
  Status update(std::span<const Detection> detections, std::chrono::nanoseconds when,
                std::vector<Track>& tracks);

  /// The tracks as of the last update.
  const std::vector<Track>& tracks() const noexcept;
  /// The tracks that ended with the last update, by id.
  const std::vector<Track>& removed() const noexcept;
  /// Detections of the last update that could be tracked and are not, because of max_tracks: those
  /// beyond that number, and those that would have begun a track when so many lived.
  std::size_t left_out() const noexcept;

 protected:
  struct Impl;
  explicit Tracker(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// ByteTrack (Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every Detection Box",
/// 2022) in two modes. Filter: centre, aspect and height (src/track/kalman.h).
///
/// Mode hal, `create`: constants and association of EdgeFirst HAL. Two passes of optimal assignment
/// by IoU: first the detections of a high score, then what is left of all. A pass makes as many
/// pairs as it can, of least total (1.5 - score) + (1.5 - IoU). Tracks are never tentative. The
/// filter is HAL's (its velocities weigh threefold), but follows the clock and expects positions
/// where HAL's expects position plus velocity.
///
/// Mode paper, `paper`: as published. A pass chooses the pairs of least total cost, each below a
/// limit; cost = 1 - IoU * score, in the second pass 1 - IoU. First all tracks that are not
/// tentative with high scores, then those of them seen in the last frame with low scores, then
/// tentative ones with what is left of the high ones. A track starts tentative, but for the first
/// frame, and ends unless the next frame has it. Of a tracked and a lost track that nearly coincide
/// (IoU above 0.85) the one that has lived longer stays.
class ByteTrack : public Tracker {
 public:
  struct Options {
    float high_score = 0.7F;    ///< first pass, and needed to start a track; [0, 1]
    float min_iou = 0.25F;      ///< least IoU for a pair in either pass; [0, 1]
    float update_gain = 0.25F;  ///< share of the optimal correction taken over; (0, 1]
    std::chrono::nanoseconds max_coast{500'000'000};
    std::chrono::nanoseconds frame_interval{33'333'333};
    bool is_class_aware = false;
    std::uint32_t max_tracks = 1000;
    /// Most squared Mahalanobis distance of a pair, >= 0; 0: no such gate. 9.4877 is the 95 %
    /// quantile of chi-square with four degrees of freedom.
    float max_distance = 0;
  };
  struct PaperOptions {
    float high_score = 0.6F;       ///< first pass; [0, 1]
    float low_score = 0.1F;        ///< second pass: [low_score, high_score); [0, 1]
    float start_score = 0.7F;      ///< needed to start a track; [0, 1]
    float first_limit = 0.8F;      ///< of the cost, in each pass; (0, 1]
    float second_limit = 0.5F;     ///< (0, 1]
    float tentative_limit = 0.7F;  ///< (0, 1]
    bool is_score_fused = true;    ///< false: cost is 1 - IoU in all passes
    std::chrono::nanoseconds max_coast{1'000'000'000};
    std::chrono::nanoseconds frame_interval{33'333'333};
    bool is_class_aware = false;
    std::uint32_t max_tracks = 1000;
  };
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<ByteTrack> create(Options options);
  static Result<ByteTrack> create() { return create(Options{}); }
  static Result<ByteTrack> paper(PaperOptions options);
  static Result<ByteTrack> paper() { return paper(PaperOptions{}); }

 private:
  using Tracker::Tracker;
};

/// OC-SORT (Cao et al., "Observation-Centric SORT", 2023): SORT's filter, and three things that
/// trust observations more than its predictions. Momentum: of pairs with enough IoU the choice has
/// the most total IoU + inertia * score * (1/2 - angle / pi), the angle between a track's own
/// direction over the last frames and the way from there to the detection. Re-update: a track
/// found again is filtered anew along the straight way between the two observations. Recovery: what
/// is left is tried once more against the tracks' last observed boxes.
/// A seen track's box is its detection's. A pair below min_iou is no candidate, where the authors'
/// program solves first and drops such pairs afterwards.
class OcSort : public Tracker {
 public:
  struct Options {
    float high_score = 0.6F;             ///< needed to be associated and to start a track; [0, 1]
    float min_iou = 0.3F;                ///< [0, 1]
    float inertia = 0.2F;                ///< weight of the direction; [0, 1]
    std::uint32_t direction_frames = 3;  ///< over which a direction is taken; 1..7
    std::uint32_t min_hits = 3;  ///< associations in a row, the first not counted, until tracked
    bool has_low_pass = false;   ///< ByteTrack's second pass, scores [0.1, high_score)
    std::chrono::nanoseconds max_coast{1'000'000'000};
    std::chrono::nanoseconds frame_interval{33'333'333};
    bool is_class_aware = false;
    std::uint32_t max_tracks = 1000;
  };
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<OcSort> create(Options options);
  static Result<OcSort> create() { return create(Options{}); }

 private:
  using Tracker::Tracker;
};

/// SORT (Bewley et al., "Simple Online and Realtime Tracking", 2016): a filter of centre, area and
/// aspect (src/track/area_filter.h), one pass of most total IoU, pairs below min_iou dropped
/// afterwards.
class Sort : public Tracker {
 public:
  struct Options {
    float min_score = 0;         ///< below: ignored; [0, 1]
    float min_iou = 0.3F;        ///< [0, 1]
    std::uint32_t min_hits = 3;  ///< associations in a row, the first not counted, until tracked
    /// The paper's one frame, with half a frame for unsteady clocks.
    std::chrono::nanoseconds max_coast{50'000'000};
    std::chrono::nanoseconds frame_interval{33'333'333};
    bool is_class_aware = false;
    std::uint32_t max_tracks = 1000;
  };
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<Sort> create(Options options);
  static Result<Sort> create() { return create(Options{}); }

 private:
  using Tracker::Tracker;
};

}  // namespace halyard
HALYARD_EXPORTS_END
