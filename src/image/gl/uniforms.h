// SPDX-License-Identifier: Apache-2.0
// The uniforms of a draw: the numbers of a plan, and the places of its planes in their textures.
#pragma once

#include <array>
#include <cstdint>

#include "image/gl/gl_program.h"
#include "image/gl/shaders.h"

namespace halyard::image {

/// In texels.
struct TexelOrigin {
  std::int32_t x = 0;
  std::int32_t y = 0;
};

/// Where the planes begin in their textures: an imported buffer is one texture, of which an image
/// may be a part.
struct TexelOrigins {
  std::array<TexelOrigin, 4> sources{};
  TexelOrigin target;
};

/// Sets all uniforms of `shader`, which is the program in use.
void set_uniforms(const Shader& shader, const GlProgram& program, const TexelOrigins& origins);

}  // namespace halyard::image
