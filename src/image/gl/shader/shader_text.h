// SPDX-License-Identifier: Apache-2.0
// Composes the shaders that convert an image. The text depends on formats and kinds of steps, not
// on sizes or numbers, so that few shaders serve many plans.
#pragma once

#include <cstddef>
#include <string>

#include "image/gl/shader/store_text.h"
#include "image/gl/shader/tap_table.h"
#include "image/plan.h"

namespace halyard::image {

/// Draws one triangle over the whole target.
std::string vertex_shader_text();

/// The shader that makes planes of the destination. Each has a target with one RGBA8 texel for each
/// four bytes of the plane's rows. With `takes_two_passes(plan)` it is the second pass. May throw
/// std::bad_alloc, as below.
std::string fragment_shader_text(const Plan& plan, const TapTable& taps, PlaneRange planes);

/// The shader of the first of two passes: it filters the rows of a group of channels. Its target
/// has one texel (row_texel()) for each output of the rows, and the rows that the plan reads.
std::string row_shader_text(const Plan& plan, const TapTable& taps, std::size_t group);

/// Names of the uniforms, in the order of Uniform.
enum class Uniform : std::size_t {
  content,           ///< ivec4: x, y, width, height in the destination
  size,              ///< ivec2: of the destination
  pad,               ///< vec4: codes
  scale,             ///< vec4 of the value map
  bias,              ///< vec4 of the value map
  yuv_in,            ///< vec4[2]: y_offset, y_scale, rv, gu; gv, bu
  yuv_out,           ///< vec4[2]: y_offset, y_scale, kr, kg; kb, u_scale, v_scale
  yuv_yuv,           ///< vec3[5]: offset, three rows of weights, bias
  tap_rows,          ///< ivec4[2]: row and count of x, row and count of y, for each group
  sample_range,      ///< ivec4[2]: first column and row that are read, last ones, for each group
  affine_whole,      ///< ivec4[3]: AffineNumbers
  affine_fraction,   ///< uvec4[3]
  affine_narrowing,  ///< vec2[2]
  source_scale,      ///< float: 16-bit sample to code
  source_size,       ///< ivec2: of a mosaic
  mosaic_parity,     ///< ivec2: of rows with red samples; of column + row of green samples
  origins,           ///< ivec2[4]: first texel of each plane of the source
  target_origin,     ///< ivec2: first texel of the plane in its target
  taps,              ///< usampler2D
  filtered0,         ///< usampler2D: filtered rows of group 0
  filtered1,
  plane0,  ///< sampler2D, and the three below
  plane1,
  plane2,
  plane3,
  count
};
const char* uniform_name(Uniform uniform) noexcept;

}  // namespace halyard::image
