// SPDX-License-Identifier: Apache-2.0
// Evaluate: how good detections are against a ground truth, by COCO's protocol.
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
  Size size;         ///< {0, 0}: not known
};

struct CocoCategory {
  std::int64_t id = 0;
  std::string name;  ///< may be empty
};

/// Left, top, width, height in pixels. Doubles, as the documents have them, so that ties fall as
/// they do for other programs.
struct CocoBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

/// The same box by its corner and extents.
inline CocoBox coco_box(const Box& box) noexcept {
  return {box.x1, box.y1, static_cast<double>(box.x2) - static_cast<double>(box.x1),
          static_cast<double>(box.y2) - static_cast<double>(box.y1)};
}

/// One object of an image: an annotation of the ground truth, or a detection.
struct CocoObject {
  std::size_t image = 0;     ///< index into CocoTruth::images
  std::size_t category = 0;  ///< index into CocoTruth::categories
  CocoBox box;
  double area = 0;        ///< pixels; of annotations: decides on small, medium, large
  double score = 0;       ///< of detections
  bool is_crowd = false;  ///< of annotations
  Rle mask;               ///< of the image's size; read where masks are compared
};

/// What is in the images. parse_coco_truth() sorts images and categories by id.
struct CocoTruth {
  std::vector<CocoImage> images;
  std::vector<CocoCategory> categories;
  std::vector<CocoObject> objects;
  bool has_segmentations = false;  ///< there are annotations, and each has a segmentation
};

/// What a network found in the same images.
struct CocoResults {
  std::vector<CocoObject> objects;
  std::size_t left_out = 0;  ///< detections of categories that the ground truth does not have
};

/// Reads instances, COCO's JSON text of `images`, `categories` and `annotations`. `iscrowd` and
/// `area` may be missing: 0, and the area of the box or mask. With masks every annotation needs its
/// segmentation (polygons, or runs as numbers or as text) and every image its size. Thread-safe.
/// Errors: malformed (no JSON: the line; a value: its key path and rule; an id that comes twice or
/// that nothing has), exhausted (polygons whose outlines are too long for the text's length).
Result<CocoTruth> parse_coco_truth(std::string_view json, bool has_masks);

/// Reads results, COCO's JSON array of {"image_id", "category_id", "bbox", "score"}, with masks
/// "segmentation" as runs in place of "bbox". Errors: malformed.
Result<CocoResults> parse_coco_results(std::string_view json, const CocoTruth& truth,
                                       bool has_masks);

/// One number of the summary.
struct CocoMetric {
  const char* name;     ///< "AP", "AP50", "AR_small"
  const char* meaning;  ///< in words
  /// In [0, 1]; unset where no annotation is of its kind.
  std::optional<double> value;
};

struct CocoScores {
  std::array<CocoMetric, 12> summary;
  std::vector<std::optional<double>> category_ap;  ///< AP of each category
};

/// Measures boxes, or masks where `has_masks`. For each category, range of areas and IoU threshold
/// (0.50 to 0.95 in steps of 0.05): the detections of each image, best first and at most 100, take
/// the free annotation with the largest IoU not below the threshold. They take annotations that are
/// crowds or outside the range only when there is no other, and then count neither way; nor does a
/// detection without a match whose own area is outside the range. Overlap with a crowd is divided
/// by the detection's area. Precision is the largest at that recall or above, averaged over recall
/// 0 to 1 in steps of 0.01, categories and thresholds; recall is the one reached. The area of a
/// detection is that of its box, or of its mask where masks are compared. Definitions: Lin et al.,
/// "Microsoft COCO: Common Objects in Context", 2014, and cocodataset.org; ties as in pycocotools:
/// equal scores in the order of `found`, images in the order of the truth. Thread-safe.
/// Errors: invalid_argument (an image or category out of range, a score or box that is no number, a
/// mask that is not of its image's size), exhausted (masks with more runs than can be compared:
/// 2^33 for all pairs).
Result<CocoScores> evaluate_coco(const CocoTruth& truth, std::span<const CocoObject> found,
                                 bool has_masks);

/// For each class of a network the index of its category; unset: no category. By name where a label
/// is the name of a category, else by order where there are as many labels as categories, as
/// COCO's 80 classes have it. Errors: invalid_argument (neither).
Result<std::vector<std::optional<std::size_t>>> match_categories(
    std::span<const std::string> labels, std::span<const CocoCategory> categories);

}  // namespace halyard
HALYARD_EXPORTS_END
