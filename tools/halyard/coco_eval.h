// SPDX-License-Identifier: Apache-2.0
// Average precision and recall as COCO defines them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "coco_data.h"

namespace halyard::tool {

/// One number of the summary.
struct CocoMetric {
  const char* name;     ///< "AP", "AP50", "AR_small"
  const char* meaning;  ///< in words
  /// In [0, 1]; nothing without an annotation that it could be measured on.
  std::optional<double> value;
};

struct CocoScores {
  std::array<CocoMetric, 12> summary;
  std::vector<std::optional<double>> category_ap;  ///< AP of each category
};

/// For each category, range of areas and IoU threshold (0.50 to 0.95 in steps of 0.05): detections
/// of each image, best first and at most 100, take the free annotation with the largest IoU not
/// below the threshold; annotations that are crowds or outside the range only when there is no
/// other, and then the detection counts neither way; nor does one without a match whose area is
/// outside the range. Overlap with a crowd is by the detection's area. Precision is the largest at
/// that recall or above, averaged over recall 0 to 1 in steps of 0.01, categories and thresholds;
/// recall is the one reached. Definitions: Lin et al., "Microsoft COCO", 2014, and cocodataset.org;
/// ties as in pycocotools: equal scores in the file's order, images by id.
CocoScores evaluate_coco(const CocoTruth& truth, std::span<const CocoObject> found, bool has_masks);

}  // namespace halyard::tool
