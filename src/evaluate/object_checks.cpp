// SPDX-License-Identifier: Apache-2.0
#include "evaluate/object_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "evaluate/quad_overlap.h"

namespace halyard::evaluate {
namespace {

/// What is wrong, after the object's path; empty: nothing.
std::string wrong_mask(const CocoObject& object, Size size) {
  if (object.mask.size == size && rle_area(object.mask)) return {};
  return fmt::format("mask: must be runs of {} x {} pixels, the size of the image", size.width,
                     size.height);
}

std::string wrong_keypoints(const CocoObject& object, const std::vector<double>& sigmas) {
  if (object.keypoints.size() != sigmas.size())
    return fmt::format("keypoints: {}, must be {}, as many as its category has sigmas",
                       object.keypoints.size(), sigmas.size());
  const auto is_finite = [](const CocoKeypoint& point) {
    return std::isfinite(point.at.x) && std::isfinite(point.at.y);
  };
  if (std::all_of(object.keypoints.begin(), object.keypoints.end(), is_finite)) return {};
  return "keypoints: must be finite";
}

std::string wrong_numbers(const CocoObject& object) {
  const CocoBox& box = object.box;
  for (const double value : {object.score, object.area, box.x, box.y, box.width, box.height})
    if (std::isnan(value)) return "score, area and box: must not be NaN";
  return {};
}

std::string wrong_category(const CocoTruth& truth, const CocoObject& object, CocoKind kind) {
  const bool may_lack = kind == CocoKind::classes && object.category == CocoObject::no_category;
  if (may_lack || object.category < truth.categories.size()) return {};
  return fmt::format("category: {}, must be below {}", object.category, truth.categories.size());
}

std::string wrong_object(const CocoTruth& truth, const CocoObject& object, CocoKind kind) {
  if (object.image >= truth.images.size())
    return fmt::format("image: {}, must be below {}", object.image, truth.images.size());
  if (std::string what = wrong_category(truth, object, kind); !what.empty()) return what;
  if (std::string what = wrong_numbers(object); !what.empty()) return what;
  if (kind == CocoKind::masks) return wrong_mask(object, truth.images[object.image].size);
  if (kind == CocoKind::keypoints)
    return wrong_keypoints(object, truth.categories[object.category].sigmas);
  if (kind == CocoKind::rotated_boxes && !is_convex(object.corners))
    return "corners: must be finite and convex, in order";
  return {};
}

}  // namespace

Status check_objects(const CocoTruth& truth, std::span<const CocoObject> objects, const char* name,
                     CocoKind kind) {
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (const std::string what = wrong_object(truth, objects[i], kind); !what.empty())
      return make_error(Errc::invalid_argument, "an object cannot be evaluated",
                        fmt::format("{}[{}].{}", name, i, what));
  return {};
}

}  // namespace halyard::evaluate
