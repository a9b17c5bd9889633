// SPDX-License-Identifier: Apache-2.0
// Finds the arrangement of outputs from their families, roles and parts. It reads no tensor data.
#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text/format_error.h"
#include "decode/description/end_to_end.h"
#include "decode/description/shapes.h"
#include "halyard/description.h"

namespace halyard {
namespace {

using decode::text_of;

// The set of roles that are present, one bit per role.
using Roles = std::uint32_t;
constexpr Roles bit(OutputRole role) noexcept {
  return Roles{1} << static_cast<unsigned>(role);
}
template <class... R>
constexpr Roles set_of(R... roles) noexcept {
  return (bit(roles) | ... | Roles{0});
}

struct FamilyOutputs {
  Roles roles = 0;
  Family family = Family::ultralytics;
  const OutputDescription* detection = nullptr;
  std::size_t detections = 0;
  bool has_levels = false;   // boxes in parts with strides
  bool has_anchors = false;  // grids of anchors
};

std::string describe_outputs(const ModelDescription& description) {
  std::string out;
  for (const auto& output : description.outputs) {
    if (output.role == OutputRole::auxiliary) continue;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", to_string(output.role),
                       text_of(output.shape));
  }
  return out;
}

Error no_arrangement(const ModelDescription& description, Family family, std::string_view known) {
  return fail(Errc::unsupported, "outputs: no known head combines these roles",
              "decoder {}: {}; known: {}", to_string(family), describe_outputs(description), known);
}

Result<FamilyOutputs> look(const ModelDescription& description) {
  FamilyOutputs out;
  std::size_t first = description.outputs.size();
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputDescription& output = description.outputs[i];
    if (output.role == OutputRole::auxiliary) continue;
    if (first == description.outputs.size()) {
      first = i;
      out.family = output.family;
    } else if (output.family != out.family) {
      return fail(Errc::invalid_argument, "outputs: all must belong to one family of networks",
                  "outputs[{}].decoder: {}, outputs[{}] is {}", i, to_string(output.family), first,
                  to_string(out.family));
    }
    out.roles |= bit(output.role);
    if (output.role == OutputRole::detection) {
      ++out.detections;
      out.detection = &output;
      out.has_anchors |= output.encoding == BoxEncoding::anchor || !output.anchors.empty();
    }
    if (output.role == OutputRole::boxes)
      out.has_levels |= !output.parts.empty() && output.parts.front().stride.has_value();
  }
  if (out.roles == 0) {
    return fail(Errc::invalid_argument, "outputs: no output to decode", "{} outputs, all auxiliary",
                description.outputs.size());
  }
  return out;
}

Result<Arrangement> combined(const ModelDescription& description, const FamilyOutputs& seen) {
  using enum Arrangement;
  using enum OutputRole;
  if (seen.has_anchors) {
    if (seen.roles == set_of(detection)) return yolo_anchor_det;
    return no_arrangement(description, seen.family, "grids of anchors alone");
  }
  if (seen.detections != 1)
    return no_arrangement(description, seen.family, "one detection without anchors");
  HALYARD_TRY(const auto rows, decode::end_to_end_axis(description, *seen.detection));
  const bool is_final = rows.has_value();
  const auto trailing = decode::trailing_features(description);
  if (seen.roles == set_of(detection, prototypes))
    return is_final ? yolo_end_to_end_seg_det : yolo_seg_det;
  if (seen.roles == set_of(detection, mask_coefficients, prototypes) && !is_final)
    return yolo_seg_det_2way;
  if (seen.roles != set_of(detection))
    return no_arrangement(description, seen.family,
                          "detection; detection, protos; detection, mask_coefs, protos");
  if (trailing.angles != 0) return is_final ? yolo_end_to_end_obb_det : yolo_obb_det;
  if (trailing.keypoints != 0) return is_final ? yolo_end_to_end_pose_det : yolo_pose_det;
  return is_final ? yolo_end_to_end_det : yolo_det;
}

Result<Arrangement> split(const ModelDescription& description, const FamilyOutputs& seen) {
  using enum Arrangement;
  using enum OutputRole;
  const Roles roles = seen.roles & ~bit(objectness);
  const bool levels = seen.has_levels;
  constexpr Roles base = set_of(boxes, scores);
  constexpr Roles masks = set_of(mask_coefficients, prototypes);
  if (roles == base) return levels ? yolo_per_scale_det : yolo_split_det;
  if (roles == (base | masks)) return levels ? yolo_per_scale_seg_det : yolo_split_seg_det;
  if (roles == (base | bit(keypoints)))
    return levels ? yolo_per_scale_pose_det : yolo_split_pose_det;
  if (roles == (base | bit(angles))) return levels ? yolo_per_scale_obb_det : yolo_split_obb_det;
  if (seen.roles == (base | bit(classes)) && !levels) return yolo_split_end_to_end_det;
  if (seen.roles == (base | bit(classes) | masks) && !levels) return yolo_split_end_to_end_seg_det;
  return no_arrangement(
      description, seen.family,
      "boxes and scores; with classes, mask_coefs and protos, landmarks, or angles");
}

Result<Arrangement> modelpack(const ModelDescription& description, const FamilyOutputs& seen) {
  using enum Arrangement;
  using enum OutputRole;
  switch (const Roles roles = seen.roles & ~bit(class_map); roles) {
    case set_of(segmentation, detection):
      return modelpack_seg_det_split;
    case set_of(segmentation, boxes, scores):
      return modelpack_seg_det;
    case set_of(segmentation):
      return modelpack_seg;
    case set_of(detection):
      return modelpack_det_split;
    case set_of(boxes, scores):
      return modelpack_det;
    default:
      return no_arrangement(description, seen.family,
                            "detection grids, or boxes and scores; segmentation beside them or "
                            "alone");
  }
}

}  // namespace

Result<Arrangement> arrangement_of(const ModelDescription& description) {
  using enum OutputRole;
  HALYARD_TRY(const FamilyOutputs seen, look(description));
  const auto one_of = [&](Arrangement arrangement, std::initializer_list<Roles> sets,
                          std::string_view known) -> Result<Arrangement> {
    if (std::find(sets.begin(), sets.end(), seen.roles) != sets.end()) return arrangement;
    return no_arrangement(description, seen.family, known);
  };
  switch (seen.family) {
    case Family::modelpack:
      return modelpack(description, seen);
    case Family::ssd:
      return one_of(Arrangement::ssd_det, {set_of(boxes, scores, priors), set_of(boxes, scores)},
                    "boxes, scores, priors; boxes and scores once decoded");
    case Family::nanodet:
      return one_of(Arrangement::nanodet_det, {set_of(detection), set_of(boxes, scores)},
                    "detection; boxes, scores");
    case Family::detr:
      return one_of(Arrangement::detr_det, {set_of(detection), set_of(boxes, scores)},
                    "detection; boxes, scores");
    case Family::semantic:
      return one_of(Arrangement::semantic_seg, {set_of(segmentation), set_of(class_map)},
                    "segmentation; masks");
    case Family::ultralytics:
      break;
  }
  if ((seen.roles & bit(detection)) != 0) return combined(description, seen);
  if (seen.roles == set_of(classification)) return Arrangement::classifier;
  return split(description, seen);
}

}  // namespace halyard
