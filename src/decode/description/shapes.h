// SPDX-License-Identifier: Apache-2.0
// Extents of a described output by the names of its axes, and by its shape where it has no names.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halyard/description.h"

namespace halyard::decode {

/// Index of the axis of that name.
std::optional<std::size_t> axis_of(const OutputDescription& output, AxisName name) noexcept;
std::optional<std::size_t> extent_of(const OutputDescription& output, AxisName name) noexcept;
bool has_names(const OutputDescription& output) noexcept;

/// Rank without the axes named padding.
std::size_t rank_of(const OutputDescription& output) noexcept;

/// What may be the count of boxes: one where names or the four coordinates tell, several where
/// the shape leaves it open, none where nothing is known. Of outputs with a value per box.
std::vector<std::size_t> box_counts(const OutputDescription& output);

/// What may be the count of features (classes, coefficients ...) beside `boxes` boxes.
std::vector<std::size_t> feature_counts(const OutputDescription& output,
                                        std::optional<std::size_t> boxes);

/// What may be the count of prototypes, whatever the input.
std::vector<std::size_t> prototype_counts(const OutputDescription& output);

/// The count of prototypes, 0 where the shape cannot be. Of an output without names: they have the
/// proportions of `input`; where that does not tell, the lesser of the first and the last extent.
std::size_t prototype_count(const OutputDescription& output, Size input);

/// Common values of two lists.
std::vector<std::size_t> common(const std::vector<std::size_t>& a,
                                const std::vector<std::size_t>& b);

/// Cells of `stride` input pixels, >= 1, along an extent of the input: the last may stand over. 0
/// where the extent is not known.
inline std::size_t cells_along(std::int32_t extent, std::uint32_t stride) noexcept {
  return extent <= 0 ? 0 : (static_cast<std::size_t>(extent) + stride - 1) / stride;
}
inline std::size_t cells_of(Size input, std::uint32_t stride) noexcept {
  return cells_along(input.width, stride) * cells_along(input.height, stride);
}

/// Numbers that the keypoints of one box take.
inline std::size_t features_of(const KeypointShape& keypoints) noexcept {
  return std::size_t{keypoints.count} * keypoints.dimensions;
}

/// "[1, 84, 8400]".
std::string text_of(std::span<const std::size_t> shape);

/// A row or a column of a grid, and where the channels lie.
struct GridAxes {
  std::size_t height = 0;
  std::size_t width = 0;
  std::size_t channels = 0;  ///< axes, not extents
  bool channels_last() const noexcept { return channels > width; }
};
/// Of rank 4 (padding apart): by names, else [batch, height, width, channels]. Nothing when names
/// leave no channels, or put them elsewhere than second or last.
std::optional<GridAxes> grid_axes(const OutputDescription& output) noexcept;

/// Numbers that stand behind the class scores of a combined detection.
struct TrailingFeatures {
  std::size_t coefficients = 0;  ///< 0 also where they have an output of their own
  std::size_t keypoints = 0;
  std::size_t angles = 0;
  std::size_t count() const noexcept { return coefficients + keypoints + angles; }
};
TrailingFeatures trailing_features(const ModelDescription& description) noexcept;

}  // namespace halyard::decode
