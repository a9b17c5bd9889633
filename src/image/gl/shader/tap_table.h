// SPDX-License-Identifier: Apache-2.0
// TapTable: the numbers of a plan that depend on the place of an output, as one texture, so that
// shaders filter with the weights of the CPU.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "image/gl/shader/source_layout.h"
#include "image/plan.h"

namespace halyard::image {

/// Row `row` of the table has the first sample of each output, and the `count` rows below it have
/// the weights of the samples from there on.
struct TapRows {
  std::int32_t row = 0;
  std::int32_t count = 0;
};

/// Filter taps by group of channels. Axes are in the source's directions, as in channel_axes().
/// With an affine map the table has the rows of affine_rows() instead.
struct TapTable {
  std::int32_t width = 0;  ///< outputs of the longest axis
  std::int32_t rows = 0;
  std::vector<std::uint32_t> values;  ///< rows of `width`: integers, and bits of floats
  std::array<TapRows, group_count> x{};
  std::array<TapRows, group_count> y{};
};

/// May throw std::bad_alloc.
TapTable make_tap_table(const Plan& plan);

/// Rows of that table.
std::int64_t tap_table_rows(const Plan& plan) noexcept;

/// Whether rows are filtered into a texture first, and its columns then: where that reads fewer
/// samples. Not for affine maps, whose filters do not follow rows.
bool takes_two_passes(const Plan& plan) noexcept;

/// Iterations of all loops that filter one pixel.
std::int64_t loop_iterations(const Plan& plan) noexcept;

}  // namespace halyard::image
