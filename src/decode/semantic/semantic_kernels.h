// SPDX-License-Identifier: Apache-2.0
// Vector loops over the scores of a semantic head. The scores are staged: class k of pixel i is at
// planes[k * stride + i], and all are finite.
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/mask/mask_geometry.h"

namespace halyard::decode {

inline constexpr std::size_t block_cells = 16;

/// Clamps infinite scores to the lowest or highest float. NaN becomes the lowest float.
void make_finite(float* planes, std::size_t stride, std::size_t classes, std::size_t pixels);

/// The first best class of each pixel, and its score. Writes whole vectors.
void best_classes(const float* planes, std::size_t stride, std::size_t classes, std::size_t pixels,
                  float* best, std::uint16_t* label);

/// Sum over classes of e^((score - best) * scale), per pixel.
void sum_of_exponentials(const float* planes, std::size_t stride, std::size_t classes,
                         const float* best, float scale, std::size_t pixels, float* out);

/// For 16 adjacent cells, each between two adjacent values of `upper` and the two below in `lower`:
/// sets bit i of masks[k] if class k can win somewhere inside cell i. `scratch` holds 16 x classes.
void prune_classes(const float* upper, const float* lower, std::size_t stride, std::size_t classes,
                   float* scratch, std::uint16_t* masks);

/// A rectangle of target pixels between two rows of scores.
struct Contest {
  const float* upper = nullptr;  ///< class 0, source pixel `left`
  const float* lower = nullptr;
  std::size_t stride = 0;
  std::int32_t left = 0;
  const AxisSamples* x = nullptr;
  const AxisSamples* y = nullptr;
  PixelRange columns, rows;
};

/// Interpolates the listed classes (ascending). Writes the first best one of each pixel to
/// label[(row - rows.begin) * label_stride + column - columns.begin]. `scratch` holds
/// contest_floats(). Writes whole vectors.
void contest(const Contest& contest, const std::uint16_t* classes, std::size_t count,
             float* scratch, std::int32_t* label, std::size_t label_stride);
inline constexpr std::size_t contest_floats(std::size_t columns, std::size_t rows) noexcept {
  return (rows + 2) * (columns + 2 * AxisSamples::padding);
}

/// Interpolates the plane of one class. `scratch` holds line_floats(columns) of mask_sample.h.
void blend_plane(const Contest& contest, float* scratch, float* out, std::size_t stride);

}  // namespace halyard::decode
