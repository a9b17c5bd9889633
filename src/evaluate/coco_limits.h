// SPDX-License-Identifier: Apache-2.0
// Limits of the work for the masks of a file in COCO's format, checked before any mask is made.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <span>

#include "halyard/evaluate.h"

namespace halyard::evaluate {

/// Limits for one file; a longer file is allowed more. For scale: 36,000 images with 260,000
/// polygons (450 MB) need 5 steps and 1 run per byte; 10,000 rectangles on images of 8K need 480
/// steps and 60 runs per byte.
struct MaskLimits {
  static constexpr double outline_steps = 16'777'216;  ///< of one outline: see coco_polygon()
  static constexpr double steps = 67'108'864;          ///< fifths of a pixel along all outlines
  static constexpr double steps_per_byte = 512;
  static constexpr double runs = 16'777'216;  ///< columns that all outlines cross
  static constexpr double runs_per_byte = 64;
  /// Runs that are compared: detections times annotations, of each image and category.
  static constexpr double compared = 8'589'934'592;
};

/// Checks the sums over all polygons of the annotations; anything else counts nothing. Errors:
/// exhausted (the message has the sum and its limit).
Status check_outlines(const nlohmann::json& annotations, std::size_t file_bytes);

/// Checks the count of runs that evaluate_coco() compares. Errors: exhausted.
Status check_comparisons(const CocoTruth& truth, std::span<const CocoObject> found);

}  // namespace halyard::evaluate
