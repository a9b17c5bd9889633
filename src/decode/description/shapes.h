// SPDX-License-Identifier: Apache-2.0
// Extents of a described output by the names of its axes, and by its shape if it has no names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/description.h"

namespace halyard::decode {

/// Index of the axis with that name.
std::optional<std::size_t> find_axis(const OutputDescription& output, AxisName name) noexcept;
std::optional<std::size_t> named_extent(const OutputDescription& output, AxisName name) noexcept;
bool has_names(const OutputDescription& output) noexcept;

/// Rank without the axes named padding.
std::size_t rank_of(const OutputDescription& output) noexcept;

/// Possible counts of boxes, for outputs with a value per box. One value if names or the four
/// coordinates decide, several if the shape allows several, empty if nothing is known.
std::vector<std::size_t> box_counts(const OutputDescription& output);

/// Possible counts of features (classes, coefficients ...) per box, next to `boxes` boxes.
std::vector<std::size_t> feature_counts(const OutputDescription& output,
                                        std::optional<std::size_t> boxes);

/// Possible counts of prototypes, independent of the input size.
std::vector<std::size_t> prototype_counts(const OutputDescription& output);

/// The count of prototypes, 0 if the shape does not fit. Without names, the two other axes are
/// those with the proportions of `input`. If that does not decide, the count is the smaller of the
/// first and the last extent.
std::size_t prototype_count(const OutputDescription& output, Size input);

/// Values that both lists contain.
std::vector<std::size_t> common(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b);

/// Cells of `stride` input pixels (>= 1) along an extent of the input. The last cell can extend
/// beyond the input. 0 if the extent is unknown.
inline std::size_t cells_along(std::int32_t extent, std::uint32_t stride) noexcept {
  return extent <= 0 ? 0 : (static_cast<std::size_t>(extent) + stride - 1) / stride;
}
inline std::size_t cells_of(Size input, std::uint32_t stride) noexcept {
  return cells_along(input.width, stride) * cells_along(input.height, stride);
}

/// Numbers per box that its keypoints need.
inline std::size_t features_of(const KeypointShape& keypoints) noexcept {
  return std::size_t{keypoints.count} * keypoints.dimensions;
}

/// "[1, 84, 8400]".
std::string text_of(std::span<const std::size_t> shape);

/// Indices of the axes of a grid.
struct GridAxes {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 0;  ///< an axis, not an extent
  bool channels_last() const noexcept { return channels > width; }
};
/// Axes of an output of rank 4 (without padding): by names, else [batch, height, width, channels].
/// Empty if the names leave no axis of channels or put it between height and width.
std::optional<GridAxes> grid_axes(const OutputDescription& output) noexcept;

/// Numbers that follow the class scores of a combined detection.
struct TrailingFeatures {
  std::size_t coefficients = 0;  ///< also 0 if they have an output of their own
  std::size_t keypoints = 0;
  std::size_t angles = 0;
  std::size_t count() const noexcept { return coefficients + keypoints + angles; }
};
TrailingFeatures trailing_features(const ModelDescription& description) noexcept;

}  // namespace halyard::decode
