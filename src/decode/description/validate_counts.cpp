// SPDX-License-Identifier: Apache-2.0
// Rules among outputs: they must describe the same boxes, classes and prototypes. Also validate()
// itself.
#include <algorithm>
#include <array>
#include <map>

#include "base/text/format_error.h"
#include "decode/description/names.h"
#include "decode/description/serialize.h"
#include "decode/description/shapes.h"
#include "decode/description/validate.h"
#include "decode/description/validate_counts.h"
#include "decode/description/validate_levels.h"

namespace halyard {
namespace decode {
namespace {

using Role = OutputRole;

std::string path_of(std::size_t i) {
  return fmt::format("outputs[{}]", i);
}

bool counts_boxes(Role role) noexcept {
  constexpr std::array roles{Role::detection,  Role::boxes,   Role::scores,
                             Role::objectness, Role::classes, Role::mask_coefficients,
                             Role::keypoints,  Role::angles,  Role::priors};
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

// Whether the output is a list of boxes, not of cells: only lists are compared by check_counts().
bool is_list(const OutputDescription& output) noexcept {
  return counts_boxes(output.role) && output.anchors.empty() &&
         output.encoding != BoxEncoding::anchor && !(output.stride && rank_of(output) == 4);
}

const OutputDescription* find(const ModelDescription& description, Role role) noexcept {
  for (const auto& output : description.outputs)
    if (output.role == role) return &output;
  return nullptr;
}

// Boxes have four coordinates. Distributions are not checked here.
Status check_boxes(const OutputDescription& output, const std::string& path) {
  if (output.role != Role::boxes || output.encoding == BoxEncoding::dfl || !is_list(output))
    return {};
  const bool is_modelpack = output.family == Family::modelpack;
  if (is_modelpack && !has_names(output)) {
    if (output.shape[2] != 1)
      return wrong(path + ".shape[2]", fmt::to_string(output.shape[2]), "padding must be 1");
    if (output.shape[3] != 4)
      return wrong(path + ".shape[3]", fmt::to_string(output.shape[3]), "box_coords must be 4");
    return {};
  }
  const auto coordinates = named_extent(output, AxisName::box_coords);
  const bool has_four = std::count(output.shape.begin(), output.shape.end(), 4U) != 0;
  if (coordinates ? *coordinates == 4 : has_four) return {};
  if (is_modelpack && coordinates) return {};
  return wrong(path + ".shape", text_of(output.shape), "one axis of boxes must be 4");
}

// Every list of boxes must be as long as the first. Returns the count if it is certain.
Result<std::optional<std::size_t>> check_box_counts(const ModelDescription& description) {
  std::vector<std::size_t> counts;
  std::size_t first = 0;
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputDescription& output = description.outputs[i];
    if (!is_list(output)) continue;
    const auto own = box_counts(output);
    if (own.empty()) continue;
    if (counts.empty()) {
      counts = own;
      first = i;
      continue;
    }
    auto both = common(counts, own);
    if (both.empty()) {
      return wrong(path_of(i) + ".shape", text_of(output.shape),
                   fmt::format("must have as many boxes as outputs[{}], {}", first,
                               text_of(description.outputs[first].shape)));
    }
    counts = std::move(both);
  }
  if (counts.size() != 1) return std::optional<std::size_t>();
  return std::optional(counts.front());
}

Status check_coefficients(const ModelDescription& description, std::optional<std::size_t> boxes) {
  const OutputDescription* coefficients = find(description, Role::mask_coefficients);
  const OutputDescription* prototypes = find(description, Role::prototypes);
  if (coefficients == nullptr || prototypes == nullptr) return {};
  const auto have = feature_counts(*coefficients, boxes);
  const auto want = prototype_counts(*prototypes);
  if (have.empty() || want.empty() || !common(have, want).empty()) return {};
  const auto index = static_cast<std::size_t>(coefficients - description.outputs.data());
  return wrong(path_of(index) + ".shape", text_of(coefficients->shape),
               fmt::format("must have as many coefficients as there are prototypes in {}",
                           text_of(prototypes->shape)));
}

// A combined detection must hold the coordinates, at least one class and the features that follow.
Status check_features(const ModelDescription& description, const OutputDescription& output,
                      const std::string& path) {
  if (output.role != Role::detection || !is_list(output)) return {};
  if (output.family == Family::modelpack) return {};
  const bool is_nanodet = output.family == Family::nanodet;
  const std::size_t own = (output.score_format == ScoreFormat::obj_x_class ? 1U : 0U) + 4U;
  const std::size_t minimum = (is_nanodet ? 4U : own) + trailing_features(description).count() + 1;
  const auto named = named_extent(output, AxisName::num_features);
  const std::size_t rank = output.shape.size();
  const std::size_t maximum =
      named ? *named
            : std::max(output.shape[rank - 1], rank > 1 ? output.shape[rank - 2] : std::size_t{0});
  if (maximum >= minimum) return {};
  return wrong(path + ".shape", text_of(output.shape),
               fmt::format("features must be at least {}: coordinates, one class and what "
                           "follows it",
                           minimum));
}

Status check_keypoints(const ModelDescription& description, const OutputDescription& output,
                       std::optional<std::size_t> boxes, const std::string& path) {
  if (output.role != Role::keypoints || !description.keypoints || !is_list(output)) return {};
  const std::size_t want =
      std::size_t{description.keypoints->count} * description.keypoints->dimensions;
  const auto have = feature_counts(output, boxes);
  if (have.empty() || !common(have, {want}).empty()) return {};
  return wrong(path + ".shape", text_of(output.shape),
               fmt::format("kpt_shape [{}, {}] needs {} features", description.keypoints->count,
                           description.keypoints->dimensions, want));
}

// ModelPack grids, [1, H, W, A * (5 + C)]: every level must have the same classes.
Result<std::size_t> grid_classes(const OutputDescription& output, const std::string& path) {
  const auto axes = grid_axes(output);
  if (!axes)
    return wrong(path + ".dshape", text_of(output.shape), "channels must be second or last");
  const std::size_t channels = output.shape[axes->channels];
  const std::size_t anchors = output.anchors.size();
  const std::string at = fmt::format("{}.shape[{}]", path, axes->channels);
  if (channels <= 5 * anchors) {
    return wrong(at, fmt::to_string(channels),
                 fmt::format("must be above 5 for each of {} anchors", anchors));
  }
  if (channels % anchors != 0) {
    return wrong(at, fmt::to_string(channels),
                 fmt::format("must be a multiple of the {} anchors", anchors));
  }
  return channels / anchors - 5;
}

Status check_grids(const ModelDescription& description) {
  std::optional<std::size_t> classes;
  std::size_t first = 0;
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputDescription& output = description.outputs[i];
    const bool is_grid = output.role == Role::detection && !output.anchors.empty() &&
                         output.parts.empty() && rank_of(output) == 4;
    if (!is_grid) continue;
    HALYARD_TRY(const std::size_t own, grid_classes(output, path_of(i)));
    if (!classes) {
      classes = own;
      first = i;
    } else if (*classes != own) {
      return wrong(path_of(i) + ".shape", text_of(output.shape),
                   fmt::format("{} classes, outputs[{}] has {}", own, first, *classes));
    }
  }
  const OutputDescription* segmentation = find(description, Role::segmentation);
  if (!classes || segmentation == nullptr || segmentation->family != Family::modelpack) return {};
  const std::size_t have =
      named_extent(*segmentation, AxisName::num_classes).value_or(segmentation->shape.back());
  if (have == *classes + 1) return {};
  const auto index = static_cast<std::size_t>(segmentation - description.outputs.data());
  return wrong(path_of(index) + ".shape", text_of(segmentation->shape),
               fmt::format("{} classes, the {} of the detections and the background are {}", have,
                           *classes, *classes + 1));
}

Status check_names_once(const ModelDescription& description) {
  std::map<std::string_view, std::string> seen;
  const auto add = [&seen](const OutputDescription& output, std::string path) -> Status {
    if (output.name.empty() || output.role == Role::auxiliary) return {};
    const auto [at, is_new] = seen.try_emplace(output.name, path);
    if (!is_new) return wrong(path + ".name", output.name, "is also the name of " + at->second);
    return {};
  };
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const OutputDescription& output = description.outputs[i];
    if (output.parts.empty()) HALYARD_RETURN_IF_ERROR(add(output, path_of(i)));
    for (std::size_t j = 0; j < output.parts.size(); ++j)
      HALYARD_RETURN_IF_ERROR(add(output.parts[j], fmt::format("{}.outputs[{}]", path_of(i), j)));
  }
  return {};
}

// Only grids and auxiliary outputs can appear several times.
Status check_roles_once(const ModelDescription& description) {
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    const Role role = description.outputs[i].role;
    if (role == Role::auxiliary || role == Role::detection || role == Role::class_map) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (description.outputs[j].role != role) continue;
      return wrong(path_of(i) + ".type", to_string(role),
                   fmt::format("outputs[{}] has the same type: ambiguous", j));
    }
  }
  return {};
}

}  // namespace

Status check_counts(const ModelDescription& description) {
  for (std::size_t i = 0; i < description.outputs.size(); ++i) {
    HALYARD_RETURN_IF_ERROR(check_boxes(description.outputs[i], path_of(i)));
    HALYARD_RETURN_IF_ERROR(check_features(description, description.outputs[i], path_of(i)));
  }
  HALYARD_TRY(const auto boxes, check_box_counts(description));
  HALYARD_RETURN_IF_ERROR(check_coefficients(description, boxes));
  for (std::size_t i = 0; i < description.outputs.size(); ++i)
    HALYARD_RETURN_IF_ERROR(
        check_keypoints(description, description.outputs[i], boxes, path_of(i)));
  return check_grids(description);
}

namespace {

Status check_root(const ModelDescription& description) {
  if (description.input.width < 0 || description.input.height < 0) {
    return wrong("input", fmt::format("{} x {}", description.input.width, description.input.height),
                 "must not be negative");
  }
  const std::string& version = description.decoder_version;
  const auto end = std::end(decoder_versions);
  if (!version.empty() && std::find(std::begin(decoder_versions), end, version) == end) {
    return not_served("decoder_version", '"' + version + '"',
                      "must be yolov5, yolov8, yolo11 or yolo26");
  }
  if (const auto& points = description.keypoints) {
    if (points->count == 0) return wrong("kpt_shape[0]", "0", "must be at least 1");
    if (points->dimensions != 2 && points->dimensions != 3)
      return wrong("kpt_shape[1]", fmt::to_string(points->dimensions), "must be 2 or 3");
  }
  if (description.labels.size() > DocumentLimits::labels) {
    return wrong("labels", fmt::to_string(description.labels.size()),
                 fmt::format("at most {}", DocumentLimits::labels));
  }
  if (description.outputs.empty()) return wrong("outputs", "[]", "must not be empty");
  if (description.outputs.size() > DocumentLimits::outputs) {
    return wrong("outputs", fmt::to_string(description.outputs.size()),
                 fmt::format("at most {}", DocumentLimits::outputs));
  }
  return {};
}

}  // namespace
}  // namespace decode

Status validate(const ModelDescription& description) {
  HALYARD_RETURN_IF_ERROR(decode::check_root(description));
  for (std::size_t i = 0; i < description.outputs.size(); ++i)
    HALYARD_RETURN_IF_ERROR(decode::check_output(description.outputs[i], decode::path_of(i)));
  HALYARD_RETURN_IF_ERROR(decode::check_names_once(description));
  HALYARD_RETURN_IF_ERROR(decode::check_roles_once(description));
  HALYARD_RETURN_IF_ERROR(decode::check_counts(description));
  HALYARD_RETURN_IF_ERROR(decode::check_levels(description));
  return decode::check_written(description);
}

}  // namespace halyard
