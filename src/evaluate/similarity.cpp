// SPDX-License-Identifier: Apache-2.0
#include "evaluate/similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/quad_overlap.h"

namespace halyard::evaluate {
namespace {

double box_overlap(const CocoBox& found, const CocoBox& truth, bool is_crowd) noexcept {
  const double width =
      std::min(found.width + found.x, truth.width + truth.x) - std::max(found.x, truth.x);
  const double height =
      std::min(found.height + found.y, truth.height + truth.y) - std::max(found.y, truth.y);
  if (width <= 0 || height <= 0) return 0;
  const double shared = width * height;
  const double area = found.width * found.height;
  return shared / (is_crowd ? area : area + truth.width * truth.height - shared);
}

double quad_overlap(const CocoObject& found, const CocoObject& truth) noexcept {
  const double shared = shared_area(found.corners, truth.corners);
  if (!(shared > 0)) return 0;
  const double area = quad_area(found.corners);
  const double all = truth.is_crowd ? area : area + quad_area(truth.corners) - shared;
  return std::min(1.0, shared / all);
}

bool has_labeled(const CocoObject& object) noexcept {
  return std::any_of(object.keypoints.begin(), object.keypoints.end(),
                     [](const CocoKeypoint& point) { return point.visibility > 0; });
}

/// Distance from the range to a value, 0 inside.
double distance_outside(double value, double low, double high) noexcept {
  return std::max(0.0, low - value) + std::max(0.0, value - high);
}

// Object keypoint similarity: cocodataset.org, "Keypoint Evaluation". Without labeled keypoints, as
// in pycocotools, the distances are those to the box, enlarged by its own size on each side.
double keypoint_similarity(const CocoObject& found, const CocoObject& truth,
                           const std::vector<double>& sigmas) noexcept {
  const bool has_points = has_labeled(truth);
  const CocoBox& box = truth.box;
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < sigmas.size(); ++i) {
    if (has_points && !(truth.keypoints[i].visibility > 0)) continue;
    const CocoPoint &seen = found.keypoints[i].at, &wanted = truth.keypoints[i].at;
    const double dx = has_points
                          ? seen.x - wanted.x
                          : distance_outside(seen.x, box.x - box.width, box.x + 2 * box.width);
    const double dy = has_points
                          ? seen.y - wanted.y
                          : distance_outside(seen.y, box.y - box.height, box.y + 2 * box.height);
    const double variance = (2 * sigmas[i]) * (2 * sigmas[i]);
    const double area = std::max(0.0, truth.area) + std::numeric_limits<double>::epsilon();
    sum += std::exp(-(dx * dx + dy * dy) / variance / area / 2);
    count += 1;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

double similarity(CocoKind kind, const CocoObject& found, const CocoObject& truth,
                  const std::vector<double>& sigmas) {
  switch (kind) {
    case CocoKind::masks:
      return rle_iou(found.mask, truth.mask, truth.is_crowd).value_or(0.0);
    case CocoKind::keypoints:
      return keypoint_similarity(found, truth, sigmas);
    case CocoKind::rotated_boxes:
      return quad_overlap(found, truth);
    case CocoKind::boxes:
    case CocoKind::classes:
      break;
  }
  return box_overlap(found.box, truth.box, truth.is_crowd);
}

double found_area(CocoKind kind, const CocoObject& found) {
  if (kind == CocoKind::masks) return static_cast<double>(rle_area(found.mask).value_or(0));
  if (kind == CocoKind::rotated_boxes) return quad_area(found.corners);
  return found.box.width * found.box.height;
}

bool is_ignored(CocoKind kind, const CocoObject& truth) {
  return truth.is_crowd || (kind == CocoKind::keypoints && !has_labeled(truth));
}

}  // namespace halyard::evaluate
