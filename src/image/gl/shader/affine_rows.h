// SPDX-License-Identifier: Apache-2.0
// Affine maps for shaders. Floats of 24 bits are too coarse for positions in large images, above
// all where a filter jumps (nearest, box). So positions are numbers of 64 bits: the whole part
// (rounded down) and a fraction in units of 2^-32 samples.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "image/gl/shader/source_layout.h"
#include "image/plan.h"

namespace halyard::image {

/// The source position of output (x, y) is the sum of a part for x and a part for y. Rows of the
/// table: whole and fraction of the source's x, then of its y, by output column; then the same by
/// output row.
inline constexpr std::int32_t affine_row_count = 8;
/// May throw std::bad_alloc. Needs fits_affine_range().
std::vector<std::uint32_t> affine_rows(const Plan& plan, std::int32_t width);

/// Whether all positions fit into such numbers.
bool fits_affine_range(const Plan& plan) noexcept;
/// As loop_iterations().
std::int64_t affine_loop_iterations(const Plan& plan) noexcept;

/// The other numbers of an affine map, as the uniforms of their names.
struct AffineNumbers {
  /// Whole parts and fractions of: begin (x, y) and end (x, y) of the crop; then for each group of
  /// channels what leads from a position to the border before its first sample (x, y), and to its
  /// last sample (x, y).
  std::array<std::int32_t, 4 * (1 + group_count)> whole{};
  std::array<std::uint32_t, 4 * (1 + group_count)> fraction{};
  /// By which distances to samples are multiplied: (x, y) for each group.
  std::array<float, 2 * group_count> narrowing{};
};
AffineNumbers affine_numbers(const Plan& plan) noexcept;

}  // namespace halyard::image
