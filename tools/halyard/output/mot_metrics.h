// SPDX-License-Identifier: Apache-2.0
// Scores tracks against a ground truth: HOTA, CLEAR MOT and identity scores.
#pragma once

#include <cstdint>

#include "halyard/result.h"
#include "input/mot_file.h"

namespace halyard::tool {

/// Ratios in [0, 1], except mota, which has no lower limit. Boxes match by IoU; scores with a
/// single limit need at least 0.5.
struct MotScores {
  /// Luiten et al., "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking", 2021: means
  /// over the IoU limits 0.05, 0.10 ... 0.95.
  double hota = 0, det_a = 0, ass_a = 0, loc_a = 0;
  /// Bernardin and Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The CLEAR MOT
  /// Metrics", 2008. A pair of the previous frame is kept if possible; then the total IoU is
  /// maximised.
  double mota = 0, motp = 0;
  std::uint64_t matches = 0, misses = 0, false_alarms = 0, switches = 0;
  /// Ristani et al., "Performance Measures and a Data Set for Multi-Target, Multi-Camera Tracking",
  /// 2016.
  double idf1 = 0, id_precision = 0, id_recall = 0;
  std::uint64_t truth_boxes = 0, result_boxes = 0, truth_ids = 0, result_ids = 0;
};

/// A frame that only one of the two has is empty in the other. An id occurs at most once in a
/// frame. Errors: exhausted (more than 2^24 pairs of boxes overlap, or identities have too many
/// pairs).
Result<MotScores> evaluate_mot(const MotFrames& truth, const MotFrames& result);

}  // namespace halyard::tool
