// SPDX-License-Identifier: Apache-2.0
// Evaluate: measures detections against a ground truth, by COCO's protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/result.h"
#include "halyard/rle.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

struct CocoImage {
  std::int64_t id = 0;
  std::string file;  ///< may be empty
  Size size;         ///< {0, 0}: unknown
};

struct CocoCategory {
  std::int64_t id = 0;
  std::string name;  ///< may be empty
};

/// Left, top, width, height in pixels. Doubles, as in the documents, so that ties are resolved as
/// in other programs.
struct CocoBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// Converts a box from two corners to one corner and extents.
inline CocoBox coco_box(const Box& box) noexcept {
  return {box.x1, box.y1, static_cast<double>(box.x2) - static_cast<double>(box.x1),
          static_cast<double>(box.y2) - static_cast<double>(box.y1)};
}

/// One object of an image: an annotation of the ground truth, or a detection.
struct CocoObject {
  std::size_t image = 0;     ///< index into CocoTruth::images
  std::size_t category = 0;  ///< index into CocoTruth::categories
  CocoBox box;
  double area = 0;        ///< pixels; of annotations: selects small, medium, large
  double score = 0;       ///< of detections
  bool is_crowd = false;  ///< of annotations
  Rle mask;               ///< of the image's size; used if masks are compared
};

/// The ground truth: the objects in the images. parse_coco_truth() sorts images and categories by
/// id.
struct CocoTruth {
  std::vector<CocoImage> images;
  std::vector<CocoCategory> categories;
  std::vector<CocoObject> objects;
  bool has_segmentations = false;  ///< true if there are annotations and each has a segmentation
};

/// The objects that a network found in the same images.
struct CocoResults {
  std::vector<CocoObject> objects;
  std::size_t left_out = 0;  ///< skipped detections, whose category is not in the ground truth
};

/// Reads instances: COCO's JSON text of `images`, `categories` and `annotations`. `iscrowd` and
/// `area` may be missing; the defaults are 0 and the area of the box or mask. With masks every
/// annotation needs a segmentation (polygons, or runs as numbers or as text) and every image its
/// size. Thread-safe. Errors: malformed (not JSON: the message has the line; an illegal value: the
/// message has its key path and the rule; a duplicate or unknown id), exhausted (polygons whose
/// outlines are too long for the text's length).
Result<CocoTruth> parse_coco_truth(std::string_view json, bool has_masks);

/// Reads results: COCO's JSON array of {"image_id", "category_id", "bbox", "score"}; with masks it
/// has "segmentation" as runs instead of "bbox". Errors: malformed.
Result<CocoResults> parse_coco_results(std::string_view json, const CocoTruth& truth,
                                       bool has_masks);

/// One number of the summary.
struct CocoMetric {
  const char* name;     ///< "AP", "AP50", "AR_small"
  const char* meaning;  ///< in words
  /// In [0, 1]; unset if there are no annotations of this kind.
  std::optional<double> value;
};

struct CocoScores {
  std::array<CocoMetric, 12> summary;
  std::vector<std::optional<double>> category_ap;  ///< AP of each category
};

/// Measures boxes, or masks if `has_masks`. For each category, range of areas and IoU threshold
/// (0.50 to 0.95 in steps of 0.05), the detections of each image are matched, best first and at
/// most 100: each takes the free annotation with the largest IoU that is not below the threshold. A
/// detection takes a crowd or an annotation outside the range only if there is no other; it then
/// counts neither as right nor as wrong. The same holds for a detection without a match whose own
/// area is outside the range. The overlap with a crowd is divided by the detection's area.
/// Precision at a recall is the largest precision at that recall or above; it is averaged over
/// recall 0 to 1 in steps of 0.01, categories and thresholds. Recall is the largest recall reached.
/// The area of a detection is the area of its box, or of its mask if masks are compared.
/// Definitions: Lin et al., "Microsoft COCO: Common Objects in Context", 2014, and cocodataset.org;
/// ties as in pycocotools: equal scores in the order of `found`, images in the order of the truth.
/// Thread-safe.
/// Errors: invalid_argument (an image or category out of range, a score or box that is not a
/// number, a mask that does not have its image's size), exhausted (masks with more than 2^33 runs
/// to compare in all pairs).
Result<CocoScores> evaluate_coco(const CocoTruth& truth, std::span<const CocoObject> found,
                                 bool has_masks);

/// Returns the category index of each class of a network; unset: no category. If any label is the
/// name of a category, all classes are matched by name. Otherwise they are matched by order if
/// there are as many labels as categories, as for COCO's 80 classes. Errors: invalid_argument
/// (neither).
Result<std::vector<std::optional<std::size_t>>> match_categories(
    std::span<const std::string> labels, std::span<const CocoCategory> categories);

}  // namespace halyard
HALYARD_EXPORTS_END
