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
  /// Of each keypoint: the deviation of annotators as a share of the root of the object's area.
  /// Empty: the category has no keypoints.
  std::vector<double> sigmas = {};
};

/// What is compared, and by which similarity.
/// - boxes: intersection over union (IoU) of upright boxes.
/// - masks: IoU of masks.
/// - keypoints: object keypoint similarity (OKS), the mean over the annotation's labeled keypoints
///   of exp(-d^2 / (8 sigma^2 area)), where d is the distance to the detection's keypoint.
/// - rotated_boxes: IoU of the corners' quadrilaterals.
/// - classes: the class of the whole image; nothing is located.
enum class CocoKind : std::uint8_t {
  boxes = 0,
  masks = 1,
  keypoints = 2,
  rotated_boxes = 3,
  classes = 4
};

/// A position in pixels, (0, 0) is the outer corner of the first pixel.
struct CocoPoint {
  double x = 0;
  double y = 0;
};

struct CocoKeypoint {
  CocoPoint at;
  /// Of annotations: COCO's 0 (not labeled), 1 (hidden), 2 (visible). Of detections: a score, which
  /// is not compared.
  double visibility = 2;
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
  std::size_t image = 0;  ///< index into CocoTruth::images
  /// Index into CocoTruth::categories; no_category: a detection of a class that the ground truth
  /// lacks, which only CocoKind::classes counts.
  std::size_t category = 0;
  CocoBox box;
  double area = 0;        ///< pixels; of annotations: selects small, medium, large
  double score = 0;       ///< of detections
  bool is_crowd = false;  ///< of annotations
  Rle mask;               ///< of the image's size; used if masks are compared
  /// As many as the category has sigmas; used if keypoints are compared.
  std::vector<CocoKeypoint> keypoints = {};
  /// In order around the object, a convex shape; used if rotated boxes are compared.
  std::array<CocoPoint, 4> corners = {};

  static constexpr std::size_t no_category = static_cast<std::size_t>(-1);
};

/// The ground truth: the objects in the images. parse_coco_truth() sorts images and categories by
/// id.
struct CocoTruth {
  std::vector<CocoImage> images;
  std::vector<CocoCategory> categories;
  std::vector<CocoObject> objects;
  bool has_segmentations = false;  ///< true if there are annotations and each has a segmentation
  bool has_keypoints = false;      ///< true if an annotation has keypoints
  bool has_rotated_boxes = false;  ///< true if there are annotations and each has a rotated box
};

/// The objects that a network found in the same images.
struct CocoResults {
  std::vector<CocoObject> objects;
  std::size_t left_out = 0;  ///< skipped detections, whose category is not in the ground truth
};

/// Reads instances: COCO's JSON text of `images`, `categories` and `annotations`. `iscrowd` and
/// `area` may be missing; the defaults are 0 and the area of what is compared; of keypoints, that
/// of the box. Each annotation needs
/// - boxes: `bbox`, or a rotated box, whose bounds are taken;
/// - masks: `segmentation` (polygons, or runs as numbers or as text), and its image a size;
/// - keypoints: `bbox`, and `keypoints` as x, y, visibility of each. Where some categories list
///   `keypoints`, annotations of the others are left out. A category may have `sigmas`; the default
///   is COCO's for 17 keypoints, else 1/n for each of n, as Ultralytics validates.
/// - rotated_boxes: `rbox` as [cx, cy, width, height, angle], radians as RotatedBox::angle; or
///   `poly`, x and y of four corners; or such a polygon as its only `segmentation`, as DOTA's
///   annotations in COCO's format have it;
/// - classes: nothing more; an image has one annotation at most.
/// Thread-safe. Errors: malformed (not JSON: the message has the line; an illegal value: the
/// message has its key path and the rule; a duplicate or unknown id), exhausted (polygons whose
/// outlines are too long for the text's length).
Result<CocoTruth> parse_coco_truth(std::string_view json, CocoKind kind);

/// Reads results: COCO's JSON array of {"image_id", "category_id", "score"} with "bbox"; masks:
/// "segmentation" as runs; keypoints: "keypoints", and "bbox" for the area, default: the box of the
/// keypoints; rotated boxes: "rbox" or "poly"; classes: nothing more. Errors: malformed.
Result<CocoResults> parse_coco_results(std::string_view json, const CocoTruth& truth,
                                       CocoKind kind);

/// One number of the summary.
struct CocoMetric {
  const char* name;     ///< "AP", "AP50", "AR_small", "top1"
  const char* meaning;  ///< in words
  /// In [0, 1]; unset if there are no annotations of this kind.
  std::optional<double> value;
};

struct CocoScores {
  /// Boxes, masks, rotated boxes: COCO's twelve numbers; keypoints: its ten; classes: top1, top5.
  std::vector<CocoMetric> summary;
  /// AP of each category; of classes: the share of the category's images with the right best class.
  std::vector<std::optional<double>> category_ap;
};

/// Measures one kind. For each category, range of areas and threshold of the similarity (0.50 to
/// 0.95 in steps of 0.05), the detections of each image are matched, best first and at most 100 (20
/// for keypoints): each takes the free annotation with the largest similarity that is not below the
/// threshold. A detection takes a crowd, an annotation outside the range or one without labeled
/// keypoints only if there is no other; it then counts neither as right nor as wrong. The same
/// holds for a detection without a match whose own area is outside the range. The overlap with a
/// crowd is divided by the detection's area. A detection's similarity to an annotation without
/// labeled keypoints is that of its keypoints to the box, enlarged threefold, as in pycocotools.
/// Precision at a recall is the largest precision at that recall or above; it is averaged over
/// recall 0 to 1 in steps of 0.01, categories and thresholds. Recall is the largest recall reached.
/// The area of a detection is the area of what is compared; of keypoints, that of its box.
/// Classes: an image is right in the top n if one of its n best detections has its category; images
/// without an annotation do not count.
/// Definitions: Lin et al., "Microsoft COCO: Common Objects in Context", 2014, and cocodataset.org;
/// ties as in pycocotools: equal scores in the order of `found`, images in the order of the truth.
/// Thread-safe.
/// Errors: invalid_argument (an image or category out of range, a number that is not finite, a mask
/// that does not have its image's size, another number of keypoints than sigmas, a sigma that is
/// not above 0, corners that are not convex, a second class of an image), exhausted (masks with
/// more than 2^33 runs to compare in all pairs).
Result<CocoScores> evaluate_coco(const CocoTruth& truth, std::span<const CocoObject> found,
                                 CocoKind kind);

/// Returns the category index of each class of a network; unset: no category. If any label is the
/// name of a category, all classes are matched by name. Otherwise they are matched by order if
/// there are as many labels as categories, as for COCO's 80 classes. Errors: invalid_argument
/// (neither).
Result<std::vector<std::optional<std::size_t>>> match_categories(
    std::span<const std::string> labels, std::span<const CocoCategory> categories);

}  // namespace halyard
HALYARD_EXPORTS_END
