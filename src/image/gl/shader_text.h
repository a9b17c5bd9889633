// SPDX-License-Identifier: Apache-2.0
// Composes the shaders that convert an image. The text depends on formats and kinds of steps, not
// on sizes or numbers, so that few shaders serve many plans.
#pragma once

#include <cstddef>
#include <string>

#include "image/gl/tap_table.h"
#include "image/plan.h"

namespace halyard::image {

/// Bytes of one texel of a source plane's texture: 1, 2 or 4, the components R, RG, RGBA. Pixels of
/// three bytes are three texels, because drivers do not import textures of such texels.
std::size_t texel_bytes(const ImageSpec& src, std::size_t plane) noexcept;

/// Whether the format stores pairs of pixels, of which each is one texel of a target.
bool stores_pairs(PixelFormat format) noexcept;

/// Draws one triangle over the whole target.
std::string vertex_shader_text();

/// The shader that makes plane `plane` of the destination. Its target has one RGBA8 texel for each
/// four bytes of the plane's rows. May throw std::bad_alloc.
std::string fragment_shader_text(const Plan& plan, const TapTable& taps, std::size_t plane);

/// Names of the uniforms, in the order of Uniform.
enum class Uniform : std::size_t {
  content,        ///< ivec4: x, y, width, height in the destination
  size,           ///< ivec2: of the destination
  pad,            ///< vec4: codes
  scale,          ///< vec4 of the value map
  bias,           ///< vec4 of the value map
  yuv_in,         ///< vec4[2]: y_offset, y_scale, rv, gu; gv, bu
  yuv_out,        ///< vec4[2]: y_offset, y_scale, kr, kg; kb, u_scale, v_scale
  yuv_yuv,        ///< vec3[5]: offset, three rows of weights, bias
  tap_rows,       ///< ivec4[2]: row and count of x, row and count of y, for each group
  source_scale,   ///< float: 16-bit sample to code
  origins,        ///< ivec2[4]: first texel of each plane of the source
  target_origin,  ///< ivec2: first texel of the plane in its target
  taps,           ///< sampler2D
  plane0,         ///< sampler2D, and the three below
  plane1,
  plane2,
  plane3,
  count
};
const char* uniform_name(Uniform uniform) noexcept;

}  // namespace halyard::image
