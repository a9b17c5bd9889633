// SPDX-License-Identifier: Apache-2.0
// Track: joins detections of successive frames to objects with identities. Four trackers, one
// interface.
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
/// - lost: not seen in the last frame, the box is a prediction;
/// - removed: ended with the last update; only Tracker::removed() returns these.
enum class TrackState : std::uint8_t { tentative = 0, tracked = 1, lost = 2, removed = 3 };

/// One object over time. For a name that is unique beyond one tracker use uuid_v4(seed, id) of
/// uuid.h.
struct Track {
  std::uint64_t id = 0;    ///< from 1, in order of appearance; never reused by one tracker
  Box box;                 ///< the filter's estimate after this frame, in the detections' pixels
  float score = 0;         ///< of the last associated detection
  std::int32_t label = 0;  ///< of the last associated detection
  std::int32_t detection = -1;  ///< index into the last update's detections, -1: coasting
  std::uint32_t updates = 0;    ///< associated detections so far, including the first
  std::chrono::nanoseconds created{0};
  std::chrono::nanoseconds last_seen{0};
  TrackState state = TrackState::tracked;
  Box last_box = {};  ///< of the last associated detection
};

/// Reorders tracks: those with a detection first, each of the two parts by id. Returns the number
/// of tracks with a detection. Allocates nothing.
std::size_t seen_first(std::span<Track> tracks) noexcept;

/// A tracker of any kind. ByteTrack, OcSort and Sort below create it; all are used alike.
///
/// Deterministic: same input, same output. Boxes may be in pixels or in fractions, not mixed; sides
/// are at least 1e-9, coordinates within +-1e9. Motion follows the times passed to update(), at any
/// frame rate. One tracker serves one thread at a time. Options that all kinds share:
/// - max_coast: a track that is unseen for longer is removed, after the frame that could have found
///   it again; >= 0;
/// - frame_interval: the time step for which the filter's noise values are given; > 0. It describes
///   how much objects change their motion between two frames, not when frames arrive;
/// - is_class_aware: a detection only continues a track of its own label;
/// - max_tracks: maximum of live tracks, and of detections used in one frame, those of the highest
///   score first; 1..65536. Bounds the worst case, max_tracks^3 steps, of a frame in which
///   everything overlaps.
class Tracker {
 public:
  Tracker(Tracker&&) noexcept;
  Tracker& operator=(Tracker&&) noexcept;
  ~Tracker();

  /// Moves to the frame taken at `when` and associates its detections. Returns all live tracks, by
  /// id; those seen in this frame have detection >= 0. Detections are ignored if their box is not
  /// finite, empty, inverted or outside the limits above, or if their score is not finite or
  /// negative. Errors: invalid_argument (`when` is before the last update); then nothing has
  /// changed.
  Result<std::vector<Track>> update(std::span<const Detection> detections,
                                    std::chrono::nanoseconds when);
  /// As above, into a list to reuse. Allocates nothing if an earlier call had as many detections
  /// and an earlier list had as many tracks.
  Status update(std::span<const Detection> detections, std::chrono::nanoseconds when,
                std::vector<Track>& tracks);

  /// The tracks after the last update.
  const std::vector<Track>& tracks() const noexcept;
  /// The tracks that ended with the last update, by id.
  const std::vector<Track>& removed() const noexcept;
  /// Number of usable detections of the last update that are not tracked because of max_tracks:
  /// those beyond that number, and those that would have started a track when that many existed.
  std::size_t left_out() const noexcept;

 protected:
  struct Impl;
  explicit Tracker(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

/// Options of ByteTrack::create(), mode hal.
struct ByteTrackOptions {
  float high_score = 0.7F;    ///< first pass, and needed to start a track; [0, 1]
  float min_iou = 0.25F;      ///< minimum IoU for a pair in either pass; [0, 1]
  float update_gain = 0.25F;  ///< share of the optimal correction that is applied; (0, 1]
  std::chrono::nanoseconds max_coast{500'000'000};
  std::chrono::nanoseconds frame_interval{33'333'333};
  bool is_class_aware = false;
  std::uint32_t max_tracks = 1000;
  /// Maximum squared Mahalanobis distance of a pair, >= 0; 0: no limit. 9.4877 is the 95 %
  /// quantile of chi-square with four degrees of freedom.
  float max_distance = 0;
};

/// Options of ByteTrack::paper().
struct ByteTrackPaperOptions {
  float high_score = 0.6F;       ///< first pass; [0, 1]
  float low_score = 0.1F;        ///< second pass: [low_score, high_score); [0, 1]
  float start_score = 0.7F;      ///< needed to start a track; [0, 1]
  float first_limit = 0.8F;      ///< limit of the cost in the first pass; (0, 1]
  float second_limit = 0.5F;     ///< in the second pass; (0, 1]
  float tentative_limit = 0.7F;  ///< for tentative tracks; (0, 1]
  bool is_score_fused = true;    ///< false: cost is 1 - IoU in all passes
  std::chrono::nanoseconds max_coast{1'000'000'000};
  std::chrono::nanoseconds frame_interval{33'333'333};
  bool is_class_aware = false;
  std::uint32_t max_tracks = 1000;
};

/// ByteTrack (Zhang et al., "ByteTrack: Multi-Object Tracking by Associating Every Detection Box",
/// 2022) in two modes. Filter: centre, aspect and height (src/track/kalman.h).
///
/// Mode hal, `create`: constants and association of EdgeFirst HAL. Two passes of optimal assignment
/// by IoU: first the detections with a high score, then all detections that are left. A pass makes
/// as many pairs as possible, with the minimum total of (1.5 - score) + (1.5 - IoU). Tracks are
/// never tentative. The filter is that of HAL, which counts velocities per third of a frame, but it
/// follows the clock, and it expects positions where HAL's filter expects position plus velocity.
///
/// Mode paper, `paper`: as published. A pass chooses the pairs with the minimum total cost, each
/// below a limit; cost = 1 - IoU * score, in the second pass 1 - IoU. The first pass compares all
/// tracks that are not tentative with high scores; the second compares those of them seen in the
/// last frame with low scores; the third compares tentative tracks with the high scores that are
/// left. A track starts tentative, except in the first frame, and ends unless the next frame shows
/// it. If a tracked and a lost track nearly coincide (IoU above 0.85), the one that has lived
/// longer stays.
class ByteTrack : public Tracker {
 public:
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<ByteTrack> create(ByteTrackOptions options = {});
  static Result<ByteTrack> paper(ByteTrackPaperOptions options = {});

 private:
  using Tracker::Tracker;
};

/// Options of OcSort::create().
struct OcSortOptions {
  float high_score = 0.6F;             ///< needed to be associated and to start a track; [0, 1]
  float min_iou = 0.3F;                ///< [0, 1]
  float inertia = 0.2F;                ///< weight of the direction; [0, 1]
  std::uint32_t direction_frames = 3;  ///< frames between which a direction is measured; 1..7
  std::uint32_t min_hits = 3;          ///< further associations in a row until tracked
  bool has_low_pass = false;           ///< ByteTrack's second pass, scores [0.1, high_score)
  std::chrono::nanoseconds max_coast{1'000'000'000};
  std::chrono::nanoseconds frame_interval{33'333'333};
  bool is_class_aware = false;
  std::uint32_t max_tracks = 1000;
};

/// OC-SORT (Cao et al., "Observation-Centric SORT", 2023): SORT's filter, and three methods that
/// trust observations more than the filter's predictions. Momentum: among pairs with enough IoU,
/// the assignment maximises the total of IoU + inertia * score * (1/2 - angle / pi). `angle` is
/// between the direction of the track over the last frames and the direction from there to the
/// detection. Re-update: a track that is found again is filtered again along the straight line
/// between the two observations. Recovery: detections and tracks that are left are compared once
/// more, by the tracks' last observed boxes. A seen track's box is its detection's. Pairs below
/// min_iou are excluded before the assignment; the authors' program drops them after it.
class OcSort : public Tracker {
 public:
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<OcSort> create(OcSortOptions options = {});

 private:
  using Tracker::Tracker;
};

/// Options of Sort::create().
struct SortOptions {
  float min_score = 0;         ///< detections with a lower score are ignored; [0, 1]
  float min_iou = 0.3F;        ///< [0, 1]
  std::uint32_t min_hits = 3;  ///< further associations in a row until tracked
  /// The paper's one frame, plus half a frame for unsteady clocks.
  std::chrono::nanoseconds max_coast{50'000'000};
  std::chrono::nanoseconds frame_interval{33'333'333};
  bool is_class_aware = false;
  std::uint32_t max_tracks = 1000;
};

/// SORT (Bewley et al., "Simple Online and Realtime Tracking", 2016): a filter of centre, area and
/// aspect (src/track/area_filter.h), and one pass with the maximum total IoU. Pairs below min_iou
/// are dropped afterwards.
class Sort : public Tracker {
 public:
  /// Errors: invalid_argument (an option outside its range; the message names it).
  static Result<Sort> create(SortOptions options = {});

 private:
  using Tracker::Tracker;
};

}  // namespace halyard
HALYARD_EXPORTS_END
