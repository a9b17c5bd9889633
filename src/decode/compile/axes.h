// SPDX-License-Identifier: Apache-2.0
// Which axis of an output is what, by name or by shape.
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

/// An output, and how messages call it.
struct NamedOutput {
  const OutputDescription* output = nullptr;
  std::string path;
  std::size_t position = 0;
  explicit operator bool() const noexcept { return output != nullptr; }
  const OutputDescription* operator->() const noexcept { return output; }

  NamedOutput part(std::size_t index) const;
  /// The first part that `suits`; none where there is none.
  template <class Suits>
  NamedOutput find_part(Suits suits) const {
    for (std::size_t i = 0; i < output->parts.size(); ++i)
      if (suits(output->parts[i])) return part(i);
    return {};
  }
};

/// By the names of its axes. Errors: invalid_argument (a name twice or out of place, one missing).
Result<TensorAxes> axes_by_name(const NamedOutput& output, bool grid);

/// What is known of a flat output without names.
struct FlatHint {
  std::size_t boxes = 0;     ///< 0: unknown
  std::size_t features = 0;  ///< 0: unknown
  bool boxes_first = false;  ///< decides where shapes do not
};
/// Rank 1 to 4; extents of 1 beyond batch, boxes and features are padding. Nothing where the shape
/// cannot be.
std::optional<TensorAxes> flat_axes_by_shape(const std::vector<std::size_t>& shape,
                                             const FlatHint& hint);

/// Of a combined detection, rank 2 or 3: features are the axis of extent `wanted` (0: unknown)
/// where only one is, else the shorter one of 5 at least, beside none of 4: boxes without scores.
/// Nothing where the shape cannot be.
std::optional<TensorAxes> combined_axes_by_shape(const std::vector<std::size_t>& shape,
                                                 std::size_t wanted);

/// What is known of a grid without names; 0: unknown.
struct GridHint {
  std::size_t features = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};
/// Rank 3 to 5 with rows and columns; features come last where the hint does not say otherwise.
/// Nothing where the shape cannot be.
std::optional<TensorAxes> grid_axes_by_shape(const std::vector<std::size_t>& shape,
                                             const GridHint& hint);

inline std::size_t extent(const std::vector<std::size_t>& shape, std::optional<std::size_t> axis) {
  return axis ? shape[*axis] : 1;
}

/// invalid_argument: "outputs: <rule>", "<path>: <seen>".
Error wrong_output(const NamedOutput& output, const char* rule);

}  // namespace halyard::decode
