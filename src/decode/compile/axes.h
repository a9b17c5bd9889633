// SPDX-License-Identifier: Apache-2.0
// Finds the meaning of each axis of an output, by name or by shape.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "decode/compile/program.h"

namespace halyard::decode {

/// Axes of one tensor; see TensorPlan.
struct TensorAxes {
  std::optional<std::size_t> batch, feature, row, column, anchor;
};

/// An output, and its path in messages.
struct NamedOutput {
  const OutputDescription* output = nullptr;
  std::string path;
  std::size_t position = 0;
  explicit operator bool() const noexcept { return output != nullptr; }
  const OutputDescription* operator->() const noexcept { return output; }

  NamedOutput part(std::size_t index) const;
  /// The first part for which `suits` returns true; empty if there is none.
  template <class Suits>
  NamedOutput find_part(Suits suits) const {
    for (std::size_t i = 0; i < output->parts.size(); ++i)
      if (suits(output->parts[i])) return part(i);
    return {};
  }
};

/// Reads the axes from their names. Errors: invalid_argument (a name appears twice, is not allowed
/// here or is missing).
Result<TensorAxes> axes_by_name(const NamedOutput& output, bool grid);

/// What is known about a flat output whose axes have no names.
struct FlatHint {
  std::size_t boxes = 0;     ///< 0: unknown
  std::size_t features = 0;  ///< 0: unknown
  bool boxes_first = false;  ///< decides where the shape fits both ways
};
/// Rank 1 to 4. Extents of 1 other than batch, boxes and features are padding. Empty if the shape
/// does not fit.
std::optional<TensorAxes> flat_axes_by_shape(const std::vector<std::size_t>& shape,
                                             const FlatHint& hint);

/// Axes of a combined detection of rank 2 or 3. If exactly one axis has the extent `wanted` (0:
/// unknown), it is the axis of features. Otherwise the shorter axis is, if its extent is 5 or more
/// and no extent is 4: that would be boxes without scores. Empty if the shape does not fit.
std::optional<TensorAxes> combined_axes_by_shape(const std::vector<std::size_t>& shape,
                                                 std::size_t wanted);

/// What is known about a grid whose axes have no names; 0: unknown.
struct GridHint {
  std::size_t features = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};
/// Rank 3 to 5 with rows and columns. Features are the last axis unless the hint excludes it. Empty
/// if the shape does not fit.
std::optional<TensorAxes> grid_axes_by_shape(const std::vector<std::size_t>& shape,
                                             const GridHint& hint);

inline std::size_t extent(const std::vector<std::size_t>& shape, std::optional<std::size_t> axis) {
  return axis ? shape[*axis] : 1;
}

/// invalid_argument with `rule` and "<path>: <shape>".
Error wrong_output(const NamedOutput& output, const char* rule);

}  // namespace halyard::decode
