// SPDX-License-Identifier: Apache-2.0
// The rules for one output. Each error names the path, the value and the limit.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "decode/description/shapes.h"
#include "decode/description/validate.h"
#include "halyard/tensor.h"

namespace halyard::decode {
namespace {

using Role = OutputRole;

constexpr std::size_t max_extent = std::numeric_limits<std::int32_t>::max();

bool is_among(Role role, std::initializer_list<Role> roles) noexcept {
  return std::find(roles.begin(), roles.end(), role) != roles.end();
}

bool holds_boxes(Role role) noexcept {
  return is_among(role, {Role::detection, Role::boxes, Role::boxes_xy, Role::boxes_wh});
}

// Whether the output holds values per cell instead of a list of boxes.
bool is_grid_of(const OutputDescription& output) noexcept {
  return output.encoding == BoxEncoding::anchor || !output.anchors.empty() ||
         (output.stride && rank_of(output) == 4);
}

Status check_extents(const OutputDescription& output, const std::string& path) {
  for (std::size_t i = 0; i < output.shape.size(); ++i) {
    const std::size_t extent = output.shape[i];
    if (extent >= 1 && extent <= max_extent) continue;
    return wrong(fmt::format("{}.shape[{}]", path, i), fmt::to_string(extent),
                 fmt::format("must be 1..{}", max_extent));
  }
  return {};
}

Status check_shape(const OutputDescription& output, const std::string& path) {
  if (output.shape.empty()) return wrong(path + ".shape", "[]", "must not be empty");
  if (output.shape.size() > max_rank)
    return wrong(path + ".shape", text_of(output.shape), fmt::format("at most {} axes", max_rank));
  HALYARD_RETURN_IF_ERROR(check_extents(output, path));
  std::size_t elements = 1;
  for (const std::size_t extent : output.shape) {
    const auto product = checked_mul(elements, extent);
    if (!product) return wrong(path + ".shape", text_of(output.shape), "too many elements");
    elements = *product;
  }
  return {};
}

bool is_half(Role role) noexcept {
  return is_among(role, {Role::boxes_xy, Role::boxes_wh});
}

// Coordinates: four; two if only centres or only sizes; four times the bins of a distribution.
Status check_coordinates(Role role, bool is_dfl, std::size_t extent, const std::string& path) {
  if (is_half(role)) {
    if (extent == 2) return {};
    return wrong(path, fmt::to_string(extent),
                 fmt::format("box_coords of {} must be 2", to_string(role)));
  }
  if (!is_dfl) {
    if (extent == 4) return {};
    return wrong(path, fmt::to_string(extent), "box_coords must be 4");
  }
  if (extent % 4 != 0)
    return wrong(path, fmt::to_string(extent), "channels of dfl must be a multiple of 4");
  if (extent / 4 > max_bins) {
    return not_served(path, fmt::to_string(extent),
                      fmt::format("at most {} bins per side", max_bins));
  }
  return {};
}

Status check_names(const OutputDescription& output, bool is_dfl, const std::string& path) {
  if (output.axes.empty()) return {};
  if (output.axes.size() != output.shape.size()) {
    return wrong(
        path + ".dshape", fmt::format("{} names", output.axes.size()),
        fmt::format("must name every axis of the shape, which has rank {}", output.shape.size()));
  }
  for (std::size_t i = 0; i < output.axes.size(); ++i) {
    const AxisName name = output.axes[i];
    const std::string at = fmt::format("{}.dshape[{}]", path, i);
    if (name == AxisName::padding && output.shape[i] != 1)
      return wrong(at, fmt::to_string(output.shape[i]), "padding must be 1");
    if (name == AxisName::box_coords)
      HALYARD_RETURN_IF_ERROR(check_coordinates(output.role, is_dfl, output.shape[i], at));
    const bool may_repeat = name == AxisName::padding || name == AxisName::unknown;
    if (!may_repeat && std::count(output.axes.begin(), output.axes.end(), name) > 1)
      return wrong(at, to_string(name), "named twice");
  }
  return {};
}

// If axes have names, checks that the names which the role needs are present.
Status check_needed_names(const OutputDescription& output, const std::string& path) {
  using enum AxisName;
  if (output.axes.empty()) return {};
  const auto need = [&](std::initializer_list<AxisName> names) -> Status {
    for (const AxisName name : names) {
      if (find_axis(output, name)) continue;
      return wrong(path + ".dshape", to_string(output.role),
                   fmt::format("needs an axis {}", to_string(name)));
    }
    return {};
  };
  const bool is_grid = is_grid_of(output);
  switch (output.role) {
    case Role::detection:
      if (output.family == Family::modelpack || is_grid) return need({height, width});
      return need({num_features, num_boxes});
    case Role::prototypes:
      return need({height, width, num_protos});
    case Role::segmentation:
    case Role::class_map:
      return output.family == Family::modelpack ? need({batch, height, width})
                                                : need({height, width});
    case Role::boxes:
    case Role::scores:
    case Role::classes:
    case Role::objectness:
    case Role::mask_coefficients:
    case Role::keypoints:
    case Role::angles:
      return is_grid ? need({height, width}) : need({num_boxes});
    default:
      return {};
  }
}

// Ranks are counted without padding; some roles allow the batch to be absent.
Status check_rank(const OutputDescription& output, const std::string& path) {
  const std::size_t rank = rank_of(output);
  const auto need = [&](std::size_t minimum, std::size_t maximum) -> Status {
    if (rank >= minimum && rank <= maximum) return {};
    const std::string limit =
        minimum == maximum ? fmt::to_string(minimum) : fmt::format("{}..{}", minimum, maximum);
    return wrong(
        path + ".shape", text_of(output.shape),
        fmt::format("rank of {} must be {} without padding", to_string(output.role), limit));
  };
  const bool is_grid = is_grid_of(output);
  switch (output.role) {
    case Role::detection:
      if (output.family == Family::modelpack) return need(4, 4);
      return is_grid ? need(4, 5) : need(2, 3);
    case Role::boxes:
      if (output.family == Family::modelpack) {
        if (output.shape.size() == 4) return {};
        return wrong(path + ".shape", text_of(output.shape),
                     "rank of boxes must be 4: batch, num_boxes, padding, box_coords");
      }
      return is_grid ? need(4, 4) : need(2, 3);
    case Role::scores:
      if (output.family == Family::modelpack) return need(3, 3);
      return is_grid ? need(4, 4) : need(2, 3);
    case Role::mask_coefficients:
    case Role::keypoints:
      return is_grid ? need(4, 4) : need(2, 3);
    case Role::prototypes:
      return need(3, 4);
    case Role::segmentation:
      return output.family == Family::modelpack ? need(4, 4) : need(2, 4);
    case Role::class_map:
      return need(2, 4);
    case Role::classification:
      return need(1, 4);
    default:
      return {};
  }
}

Status check_quantization(const OutputDescription& output, const std::string& path) {
  if (!output.quantization) return {};
  const auto status =
      halyard::validate(*output.quantization, output.dtype.value_or(DType::i32), output.shape);
  if (status) return {};
  const Error& error = status.error();
  return make_error(error.code, error.what,
                    error.detail ? fmt::format("{}: {}", path, *error.detail) : path);
}

Status check_anchors(const OutputDescription& output, const std::string& path) {
  const bool is_anchor = output.encoding == BoxEncoding::anchor;
  if (output.anchors.empty()) {
    const bool is_grid =
        output.role == Role::detection && (is_anchor || output.family == Family::modelpack);
    if (is_grid && output.parts.empty())
      return wrong(path + ".anchors", "none", "grids of anchors need at least one");
    return {};
  }
  if (!is_among(output.role, {Role::detection, Role::boxes}))
    return wrong(path + ".anchors", to_string(output.role), "only boxes have anchors");
  if (output.encoding && !is_anchor) {
    return wrong(path + ".anchors", to_string(*output.encoding),
                 "anchors belong to the encoding anchor");
  }
  for (std::size_t i = 0; i < output.anchors.size(); ++i) {
    for (const float extent : output.anchors[i]) {
      if (std::isfinite(extent) && extent > 0) continue;
      return wrong(fmt::format("{}.anchors[{}]", path, i), fmt::to_string(extent),
                   "must be finite and above 0");
    }
  }
  return {};
}

Status check_strides(const OutputDescription& output, const std::string& path) {
  if (output.stride && (output.stride->x == 0 || output.stride->y == 0)) {
    return wrong(path + ".stride", fmt::format("[{}, {}]", output.stride->x, output.stride->y),
                 "must be at least 1");
  }
  for (std::size_t i = 0; i < output.strides.size(); ++i) {
    const std::string at = fmt::format("{}.strides[{}]", path, i);
    if (output.strides[i] == 0) return wrong(at, "0", "must be at least 1");
    const auto begin = output.strides.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(i);
    if (std::find(begin, end, output.strides[i]) != end)
      return wrong(at, fmt::to_string(output.strides[i]), "appears twice");
  }
  return {};
}

// Checks for values that contradict the role.
Status check_coding(const OutputDescription& output, const std::string& path) {
  if (output.role == Role::auxiliary) return {};
  if (output.encoding && !holds_boxes(output.role)) {
    return wrong(path + ".encoding", to_string(*output.encoding),
                 fmt::format("{} have no encoding, only boxes do", to_string(output.role)));
  }
  if (output.encoding == BoxEncoding::prior && output.family != Family::ssd) {
    return wrong(path + ".encoding", "prior",
                 fmt::format("belongs to decoder ssd, not {}", to_string(output.family)));
  }
  if (output.score_format &&
      !is_among(output.role, {Role::detection, Role::scores, Role::objectness})) {
    return wrong(path + ".score_format", to_string(*output.score_format),
                 fmt::format("{} have no score_format, only scores do", to_string(output.role)));
  }
  if (output.activation != Activation::none && output.applied != Activation::none) {
    return wrong(path + ".activation_required", to_string(output.activation),
                 fmt::format("activation_applied is {}", to_string(output.applied)));
  }
  const bool is_flat = output.parts.empty() && output.strides.empty() && !output.stride;
  if (output.role == Role::boxes && output.encoding == BoxEncoding::dfl && is_flat) {
    return not_served(path + ".encoding", "dfl",
                      "distributions need parts with a stride, or strides");
  }
  return {};
}

Status check_part(const OutputDescription& whole, const OutputDescription& part,
                  const std::string& path) {
  if (part.name.empty()) return wrong(path + ".name", "\"\"", "a part needs a name");
  if (!part.parts.empty()) return wrong(path + ".outputs", "parts", "a part must not have parts");
  if (part.role == Role::auxiliary) return {};
  const bool fits = part.role == whole.role || (is_half(part.role) && whole.role == Role::boxes) ||
                    whole.role == Role::detection;
  if (!fits) {
    return wrong(path + ".type", to_string(part.role),
                 fmt::format("cannot be a part of {}", to_string(whole.role)));
  }
  if (part.stride && (is_half(part.role) || whole.role == Role::detection) &&
      whole.anchors.empty() && part.anchors.empty()) {
    return wrong(path + ".stride", fmt::to_string(part.stride->x),
                 "parts with a stride must hold whole boxes or scores");
  }
  return {};
}

// Compares part `i` with the parts before it.
Status check_against(const OutputDescription& whole, std::size_t i, const std::string& path) {
  const OutputDescription& part = whole.parts[i];
  if (part.role == Role::auxiliary) return {};
  for (std::size_t j = 0; j < i; ++j) {
    const OutputDescription& other = whole.parts[j];
    if (other.role == Role::auxiliary) continue;
    if (other.stride.has_value() != part.stride.has_value()) {
      return wrong(path + ".stride", part.stride ? fmt::to_string(part.stride->x) : "none",
                   "all parts must have a stride, or none");
    }
    if (other.role == part.role && other.shape == part.shape) {
      return wrong(path + ".shape", text_of(part.shape),
                   fmt::format("\"{}\" has the same type and shape: ambiguous", other.name));
    }
    if (part.stride && other.role == part.role && other.stride == part.stride) {
      return wrong(path + ".stride", fmt::to_string(part.stride->x),
                   fmt::format("\"{}\" has the same stride", other.name));
    }
  }
  return {};
}

Status check_one(const OutputDescription& output, bool is_dfl, const std::string& path) {
  HALYARD_RETURN_IF_ERROR(check_shape(output, path));
  HALYARD_RETURN_IF_ERROR(check_names(output, is_dfl, path));
  HALYARD_RETURN_IF_ERROR(check_strides(output, path));
  HALYARD_RETURN_IF_ERROR(check_quantization(output, path));
  HALYARD_RETURN_IF_ERROR(check_anchors(output, path));
  HALYARD_RETURN_IF_ERROR(check_coding(output, path));
  return {};
}

}  // namespace

Error wrong(std::string_view path, std::string_view seen, std::string_view rule) {
  return fail(Errc::invalid_argument, "description: a value is wrong", "{}: {}, {}", path, seen,
              rule);
}

Error not_served(std::string_view path, std::string_view seen, std::string_view rule) {
  return fail(Errc::unsupported, "description: not decoded by this version", "{}: {}, {}", path,
              seen, rule);
}

Status check_output(const OutputDescription& output, const std::string& path) {
  const bool is_dfl = output.encoding == BoxEncoding::dfl;
  HALYARD_RETURN_IF_ERROR(check_one(output, is_dfl, path));
  if (output.role == Role::auxiliary) {
    for (std::size_t i = 0; i < output.parts.size(); ++i)
      HALYARD_RETURN_IF_ERROR(
          check_extents(output.parts[i], fmt::format("{}.outputs[{}]", path, i)));
    return {};
  }
  if (is_half(output.role))
    return wrong(path + ".type", to_string(output.role), "must be a part of boxes");
  if (output.parts.size() > DocumentLimits::outputs) {
    return wrong(path + ".outputs", fmt::to_string(output.parts.size()),
                 fmt::format("at most {}", DocumentLimits::outputs));
  }
  for (std::size_t i = 0; i < output.parts.size(); ++i) {
    const std::string at = fmt::format("{}.outputs[{}]", path, i);
    HALYARD_RETURN_IF_ERROR(check_one(output.parts[i], is_dfl, at));
    HALYARD_RETURN_IF_ERROR(check_part(output, output.parts[i], at));
    HALYARD_RETURN_IF_ERROR(check_against(output, i, at));
  }
  if (!output.parts.empty() && output.parts.front().stride) return {};  // see check_levels()
  HALYARD_RETURN_IF_ERROR(check_rank(output, path));
  return check_needed_names(output, path);
}

}  // namespace halyard::decode
