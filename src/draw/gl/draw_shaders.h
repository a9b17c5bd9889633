// SPDX-License-Identifier: Apache-2.0
// Texts of the shaders that draw. They depend on the layout of a plane and the kind of shape alone.
#pragma once

#include <cstdint>
#include <string>

#include "halyard/format.h"

namespace halyard::draw {

/// How a plane of the image is a target, so that one texel is never more than one pixel's.
enum class PlaneKind : std::uint8_t {
  pixels,  ///< RGBA8, a texel is a pixel of four bytes
  bytes,   ///< R8, three texels are a pixel
  single,  ///< R8, a texel is one channel of a pixel
  blocks,  ///< RG8, a texel is the chroma of 2 x 2 pixels
};

/// What decides about the weight of a pixel.
enum class ShapeKind : std::uint8_t { operations, logits, mask_bytes, class_map };

/// Types of elements in a texture. bf16 has a kind of its own, because no texture has it.
enum class ElementKind : std::uint8_t { real, bfloat, signed_integer, unsigned_integer };
ElementKind element_kind(DType dtype) noexcept;

/// Data in a texture continue from row to row; a row has this many texels, which every OpenGL ES 3
/// allows.
inline constexpr std::int32_t table_width = 2048;

/// Vectors of four integers of one command: a DrawOp, or the same words of a mask:
/// - 0: the pixels that it touches; 1: as in DrawOp;
/// - logits, 2: from prototype pixels to texels of the atlas, x, y; 3: its rectangle in the atlas;
///   4: the prototype pixel there, x, y, and the row of coefficients;
/// - mask_bytes, 2: MaskOp::source.
inline constexpr std::int32_t command_vectors = 6;

/// All texts may throw std::bad_alloc.
/// Draws two triangles for each command, around the rectangle of one of its vectors.
std::string command_vertex_text();
/// Blends: the colour, and the weight as alpha.
std::string shape_text(ShapeKind shape, PlaneKind plane);
/// Computes the logits of masks into an atlas of R32UI texels, which hold the bits of floats.
std::string logit_text(ElementKind kind);
/// The same as a compute shader of OpenGL ES 3.1: work groups of 8 x 8 for each command.
std::string logit_compute_text(ElementKind kind);
/// Puts the bytes of an R8 or RG8 plane into RGBA8 texels, because only those can be read back from
/// every driver.
std::string pack_text();

/// Uniforms of all shaders; each uses some.
enum class DrawUniform : std::size_t {
  commands,        ///< isampler2D
  shapes,          ///< usampler2D: coverage, logits, mask bytes or class ids; pack: sampler2D
  table,           ///< usampler2D: samples of the axes, or inks of classes
  prototypes,      ///< a sampler of the element's kind
  numbers,         ///< sampler2D
  plane_size,      ///< ivec2: of the target, in texels
  columns,         ///< int: texels of a pixel, 1 or 3
  shift,           ///< int: 1 where a texel is 2 x 2 pixels
  quad_vector,     ///< int: the vector of a command with its rectangle
  image_size,      ///< ivec2
  target_origin,   ///< ivec2: first texel of the plane in its target
  channel,         ///< int: byte of the ink in this plane; pack: bytes of a texel
  row_stride,      ///< int: of class ids
  element_stride,  ///< ivec3: of pixels, rows and channels of prototypes
  channels,        ///< int: of prototypes
  count
};
const char* draw_uniform_name(DrawUniform uniform) noexcept;

}  // namespace halyard::draw
