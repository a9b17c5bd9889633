// SPDX-License-Identifier: Apache-2.0
// Reads shapes. Without names an axis can have several meanings; the functions return all of them
// and the callers intersect them.
#include "decode/description/shapes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace halyard::decode {
namespace {

// Extents that can be a count: all but the batch, if the rank is above 2.
std::vector<std::size_t> inner_extents(const OutputDescription& output) {
  std::vector<std::size_t> out(output.shape);
  if (out.size() > 2) out.erase(out.begin());
  return out;
}

bool has_role(const ModelDescription& description, OutputRole role) noexcept {
  return std::any_of(description.outputs.begin(), description.outputs.end(),
                     [role](const OutputDescription& output) { return output.role == role; });
}

}  // namespace

std::optional<std::size_t> find_axis(const OutputDescription& output, AxisName name) noexcept {
  const auto found = std::find(output.axes.begin(), output.axes.end(), name);
  if (found == output.axes.end()) return std::nullopt;
  return static_cast<std::size_t>(found - output.axes.begin());
}

std::optional<std::size_t> named_extent(const OutputDescription& output, AxisName name) noexcept {
  const auto axis = find_axis(output, name);
  if (!axis || *axis >= output.shape.size()) return std::nullopt;
  return output.shape[*axis];
}

bool has_names(const OutputDescription& output) noexcept {
  return !output.axes.empty();
}

std::size_t rank_of(const OutputDescription& output) noexcept {
  const auto paddings = std::count(output.axes.begin(), output.axes.end(), AxisName::padding);
  return output.shape.size() - std::min(output.shape.size(), static_cast<std::size_t>(paddings));
}

std::vector<std::size_t> box_counts(const OutputDescription& output) {
  if (const auto named = named_extent(output, AxisName::num_boxes)) return {*named};
  if (has_names(output)) return {};
  if (output.family == Family::modelpack && output.role == OutputRole::boxes)
    return output.shape.size() == 4 ? std::vector{output.shape[1]} : std::vector<std::size_t>{};
  std::vector<std::size_t> extents = inner_extents(output);
  const bool is_boxes = output.role == OutputRole::boxes || output.role == OutputRole::priors;
  if (is_boxes && std::count(extents.begin(), extents.end(), 4U) == 1) std::erase(extents, 4U);
  return extents;
}

std::vector<std::size_t> feature_counts(const OutputDescription& output,
                                        std::optional<std::size_t> boxes) {
  for (const AxisName name : {AxisName::num_features, AxisName::num_classes, AxisName::num_protos,
                              AxisName::box_coords}) {
    if (const auto named = named_extent(output, name)) return {*named};
  }
  if (has_names(output)) return {};
  std::vector<std::size_t> extents = inner_extents(output);
  if (extents.size() < 2) return {1};
  if (boxes) {
    const auto found = std::find(extents.begin(), extents.end(), *boxes);
    if (found != extents.end()) extents.erase(found);
  }
  return extents;
}

std::vector<std::size_t> prototype_counts(const OutputDescription& output) {
  if (const auto named = named_extent(output, AxisName::num_protos)) return {*named};
  if (has_names(output) || output.shape.size() < 3) return {};
  return {output.shape[output.shape.size() - 3], output.shape.back()};
}

std::size_t prototype_count(const OutputDescription& output, Size input) {
  if (has_names(output)) return named_extent(output, AxisName::num_protos).value_or(0);
  const std::size_t rank = output.shape.size();
  if (rank < 3) return 0;
  const std::size_t first = output.shape[rank - 3];
  const std::size_t middle = output.shape[rank - 2];
  const std::size_t last = output.shape[rank - 1];
  const auto fits = [input](std::size_t height, std::size_t width) {
    return height * static_cast<std::size_t>(input.width) ==
           width * static_cast<std::size_t>(input.height);
  };
  if (input.width > 0 && input.height > 0 && fits(first, middle) != fits(middle, last))
    return fits(first, middle) ? last : first;
  return std::min(first, last);
}

std::vector<std::size_t> common(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b) {
  std::vector<std::size_t> out;
  for (const std::size_t value : a)
    if (std::find(b.begin(), b.end(), value) != b.end()) out.push_back(value);
  return out;
}

std::string text_of(std::span<const std::size_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::optional<GridAxes> grid_axes(const OutputDescription& output) noexcept {
  if (rank_of(output) != 4) return std::nullopt;
  if (!has_names(output)) return GridAxes{1, 2, 3};
  const auto height = find_axis(output, AxisName::height);
  const auto width = find_axis(output, AxisName::width);
  if (!height || !width) return std::nullopt;
  std::optional<std::size_t> channels;
  for (std::size_t i = 0; i < output.axes.size(); ++i) {
    const AxisName name = output.axes[i];
    if (i == *height || i == *width || name == AxisName::batch || name == AxisName::padding)
      continue;
    if (channels) return std::nullopt;
    channels = i;
  }
  if (!channels) return std::nullopt;
  const std::size_t minimum = std::min(*height, *width);
  const std::size_t maximum = std::max(*height, *width);
  if (*channels > minimum && *channels < maximum) return std::nullopt;
  return GridAxes{*height, *width, *channels};
}

TrailingFeatures trailing_features(const ModelDescription& description) noexcept {
  TrailingFeatures out;
  if (!has_role(description, OutputRole::mask_coefficients)) {
    for (const OutputDescription& output : description.outputs) {
      if (output.role == OutputRole::prototypes)
        out.coefficients = prototype_count(output, description.input);
    }
  }
  if (description.keypoints && !has_role(description, OutputRole::keypoints))
    out.keypoints = features_of(*description.keypoints);
  if (description.task == Task::obb && !has_role(description, OutputRole::angles)) out.angles = 1;
  return out;
}

}  // namespace halyard::decode
