// SPDX-License-Identifier: Apache-2.0
// Assigns axes by their names, and by their extents where there are no names.
#include "decode/compile/axes.h"

#include <fmt/ranges.h>

#include "base/assert.h"
#include "base/text/format_error.h"

namespace halyard::decode {
namespace {

// The field that an axis of this name sets. Null for names that have no meaning here.
std::optional<std::size_t>* axis_slot(TensorAxes& axes, AxisName name, bool grid) {
  switch (name) {
    case AxisName::batch:
      return &axes.batch;
    case AxisName::num_features:
    case AxisName::num_classes:
    case AxisName::num_protos:
    case AxisName::num_anchors_x_features:
    case AxisName::box_coords:
      return &axes.feature;
    case AxisName::num_boxes:
      return grid ? nullptr : &axes.column;
    case AxisName::height:
      return grid ? &axes.row : nullptr;
    case AxisName::width:
      return grid ? &axes.column : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

NamedOutput NamedOutput::part(std::size_t index) const {
  return {&output->parts[index], fmt::format("{}.outputs[{}]", path, index), position + index};
}

Error wrong_output(const NamedOutput& output, const char* rule) {
  return fail(Errc::invalid_argument, rule, "{}: [{}]", output.path,
              fmt::join(output->shape, ", "));
}

Result<TensorAxes> axes_by_name(const NamedOutput& output, bool grid) {
  HALYARD_ASSERT(output->axes.size() == output->shape.size());
  TensorAxes axes;
  for (std::size_t i = 0; i < output->axes.size(); ++i) {
    const AxisName name = output->axes[i];
    if (name == AxisName::padding && output->shape[i] == 1) continue;
    auto* const slot = axis_slot(axes, name, grid);
    if (slot == nullptr || *slot) {
      return fail(Errc::invalid_argument,
                  grid ? "outputs: axes of a grid are batch, height, width and one of features, "
                         "each once, and padding of extent 1"
                       : "outputs: axes of boxes are batch, num_boxes and one of features, each "
                         "once, and padding of extent 1",
                  "{}.axes[{}]: \"{}\" of extent {}", output.path, i, to_string(name),
                  output->shape[i]);
    }
    *slot = i;
  }
  if (!axes.column || (grid && !axes.row))
    return wrong_output(output, grid ? "outputs: axes must name height and width"
                                     : "outputs: axes must name num_boxes");
  return axes;
}

std::optional<TensorAxes> flat_axes_by_shape(const std::vector<std::size_t>& shape,
                                             const FlatHint& hint) {
  std::vector<std::size_t> axes;  // without batch and padding
  TensorAxes out;
  const bool has_batch = shape.size() >= 3 || (shape.size() == 2 && shape[0] == 1);
  if (has_batch) out.batch = 0;
  for (std::size_t i = has_batch ? 1 : 0; i < shape.size(); ++i)
    axes.push_back(i);
  for (std::size_t i = 0; axes.size() > 2 && i < axes.size();) {
    shape[axes[i]] == 1 ? axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i)), 0 : ++i;
  }
  if (axes.empty() || axes.size() > 2) return std::nullopt;
  if (axes.size() == 1) {
    if (hint.boxes != 0 && shape[axes[0]] != hint.boxes) return std::nullopt;
    out.column = axes[0];
    return out;
  }
  const auto suits = [&](std::size_t boxes, std::size_t features) {
    return (hint.boxes == 0 || shape[boxes] == hint.boxes) &&
           (hint.features == 0 || shape[features] == hint.features);
  };
  const bool first = suits(axes[0], axes[1]);
  const bool second = suits(axes[1], axes[0]);
  if (!first && !second) return std::nullopt;
  const bool boxes_first = first && (!second || hint.boxes_first);
  out.column = axes[boxes_first ? 0 : 1];
  out.feature = axes[boxes_first ? 1 : 0];
  return out;
}

std::optional<TensorAxes> combined_axes_by_shape(const std::vector<std::size_t>& shape,
                                                 std::size_t wanted) {
  constexpr std::size_t min_features = 5;  // a box and one class
  if (shape.size() != 2 && shape.size() != 3) return std::nullopt;
  const std::size_t first = shape.size() - 2;
  const std::size_t a = shape[first];
  const std::size_t b = shape[first + 1];
  TensorAxes axes;
  if (shape.size() == 3) axes.batch = 0;
  // Equal extents are an image, not a head. [1, n] is a classification.
  if (a == b || (shape.size() == 2 && (a == 1 || b == 1))) return std::nullopt;
  bool features_first = a < b ? a >= min_features : b < min_features;
  const bool is_told = wanted != 0 && (a == wanted) != (b == wanted);
  if (is_told) features_first = a == wanted;
  // An extent of 4 is far more often boxes without scores than a count of four boxes.
  if (!is_told && (a == 4 || b == 4)) return std::nullopt;
  axes.feature = features_first ? first : first + 1;
  axes.column = features_first ? first + 1 : first;
  if (shape[*axes.feature] < min_features) return std::nullopt;
  return axes;
}

std::optional<TensorAxes> grid_axes_by_shape(const std::vector<std::size_t>& shape,
                                             const GridHint& hint) {
  const auto suits = [&](std::size_t features, std::size_t rows) {
    return (hint.features == 0 || shape[features] == hint.features) &&
           (hint.rows == 0 || shape[rows] == hint.rows) &&
           (hint.columns == 0 || shape[rows + 1] == hint.columns);
  };
  TensorAxes out;
  if (shape.size() == 5) {  // batch, anchor, row, column, feature
    if (!suits(4, 2)) return std::nullopt;
    out = {0, 4, 2, 3, 1};
    return out;
  }
  if (shape.size() != 3 && shape.size() != 4) return std::nullopt;
  const std::size_t first = shape.size() - 3;
  if (first == 1) out.batch = 0;
  const bool is_last = suits(first + 2, first);
  if (!is_last && !suits(first, first + 1)) return std::nullopt;
  out.feature = is_last ? first + 2 : first;
  out.row = is_last ? first : first + 1;
  out.column = *out.row + 1;
  return out;
}

}  // namespace halyard::decode
