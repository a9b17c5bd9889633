// SPDX-License-Identifier: Apache-2.0
// Matcher: the passes of one frame, which match open detections with open tracks.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.h"
#include "halyard/assignment.h"
#include "track/overlaps.h"
#include "track/tracker.h"

namespace halyard::track {

/// A matched pair is closed for the following passes. Keeps its memory.
class Matcher {
 public:
  struct Pass {
    double min_iou = 0;           ///< of a candidate pair
    std::optional<double> alone;  ///< cost of staying alone; nullopt: as many pairs as possible
    double min_kept_iou = 0;      ///< a chosen pair with a lower IoU is dropped
  };

  /// Cost of a pair that is not a candidate.
  static constexpr double never = std::numeric_limits<double>::infinity();

  explicit Matcher(bool is_class_aware) : is_class_aware_(is_class_aware) {}

  /// Opens all detections and tracks of a frame.
  void begin(const FrameDetections& frame, std::size_t tracks) {
    frame_ = frame;
    detection_open_.assign(frame.detections.size(), 0);
    for (const std::uint32_t i : frame.usable)
      detection_open_[i] = 1;
    track_open_.assign(tracks, 1);
  }
  bool is_open_detection(std::uint32_t detection) const noexcept {
    return detection_open_[detection] != 0;
  }
  bool is_open_track(std::size_t track) const noexcept { return track_open_[track] != 0; }

  /// Runs one pass over the open detections and tracks that the predicates accept. `box(track)` is
  /// the box that a track is compared by, `cost(detection, track, iou)` the cost of a pair.
  /// `take(track, detection)` is called for each chosen pair.
  template <class Rows, class Columns, class BoxOf, class Cost, class Take>
  void run(const Pass& pass, std::span<const Track> tracks, Rows admits_detection,
           Columns admits_track, BoxOf box, Cost cost, Take take) {
    collect(tracks, admits_detection, admits_track, box);
    if (rows_.empty() || columns_.empty()) return;
    pairs_.clear();
    const std::span<const OverlapPair> overlaps =
        finder_.find(row_boxes_, column_boxes_, pass.min_iou);
    for (const OverlapPair& o : overlaps) {
      const std::uint32_t detection = rows_[o.row];
      const std::uint32_t track = columns_[o.column];
      if (is_class_aware_ && frame_.detections[detection].label != tracks[track].label) continue;
      const double c = cost(detection, track, o.iou);
      if (c < pass.alone.value_or(never)) pairs_.push_back({o.row, o.column, c});
    }
    const std::span<const std::int32_t> chosen = solve(pass.alone);
    for (std::size_t row = 0; row < chosen.size(); ++row) {
      if (chosen[row] == Assignment::unassigned) continue;
      const auto column = static_cast<std::size_t>(chosen[row]);
      if (pass.min_kept_iou > 0 &&
          overlap(row_boxes_[row], column_boxes_[column]) < pass.min_kept_iou)
        continue;
      detection_open_[rows_[row]] = 0;
      track_open_[columns_[column]] = 0;
      take(columns_[column], rows_[row]);
    }
  }

 private:
  template <class Rows, class Columns, class BoxOf>
  void collect(std::span<const Track> tracks, Rows admits_detection, Columns admits_track,
               BoxOf box) {
    rows_.clear();
    row_boxes_.clear();
    columns_.clear();
    column_boxes_.clear();
    for (const std::uint32_t i : frame_.usable) {
      if (!is_open_detection(i) || !admits_detection(frame_.detections[i])) continue;
      rows_.push_back(i);
      row_boxes_.push_back(frame_.detections[i].box);
    }
    for (std::uint32_t i = 0; i < tracks.size(); ++i) {
      if (!is_open_track(i) || !admits_track(i)) continue;
      columns_.push_back(i);
      column_boxes_.push_back(box(i));
    }
  }
  // The pairs are made here: indices are in range, no pair repeats, all costs are finite.
  std::span<const std::int32_t> solve(std::optional<double> alone) {
    if (pairs_.empty()) return {};
    auto chosen = alone ? assignment_.cheapest(pairs_, rows_.size(), columns_.size(), *alone)
                        : assignment_.max_pairs(pairs_, rows_.size(), columns_.size());
    HALYARD_ASSERT(chosen.has_value());
    return *chosen;
  }

  bool is_class_aware_;
  FrameDetections frame_;
  std::vector<char> detection_open_, track_open_;
  std::vector<std::uint32_t> rows_, columns_;  // of this pass: detections, tracks
  std::vector<Box> row_boxes_, column_boxes_;
  OverlapFinder finder_;
  std::vector<AssignmentPair> pairs_;
  Assignment assignment_;
};

}  // namespace halyard::track
