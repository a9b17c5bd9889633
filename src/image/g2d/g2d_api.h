// SPDX-License-Identifier: Apache-2.0
// The part of libg2d's binary interface that the backend uses, declared here because the library is
// loaded at run time. Every function returns 0 on success, unless another result is named.
#pragma once

#include <array>
#include <cstdint>

namespace halyard::image::g2d {

enum class SurfaceFormat : int { rgba8888 = 1, bgra8888 = 3, rgb888 = 10, nv12 = 20, yuyv = 24 };

/// A mirror of the source surface, or a clockwise rotation of the destination surface.
enum class SurfaceOrientation : int {
  none = 0,
  cw90 = 1,
  cw180 = 2,
  cw270 = 3,
  flip_horizontal = 4,
  flip_vertical = 5,
};

/// What g2d_enable() and g2d_disable() switch.
enum class Capability : int {
  blend = 0,
  dither = 1,
  global_alpha = 2,
  blur = 4,
  bt601 = 5,
  bt709 = 6,
  bt601_full = 7,
  bt709_full = 8,
};

/// Modes of g2d_cache_op(): write dirty lines to memory; the same, and drop all lines.
enum class CacheOperation : int { clean = 0, flush = 1 };

/// Factors of blending, which the backend switches off.
inline constexpr int blend_zero = 0;
inline constexpr int blend_factor_one = 1;

/// A surface as the backend describes it, independent of the library's version.
struct Surface {
  SurfaceFormat format{};
  std::array<std::uint64_t, 3> planes{};  ///< physical addresses of the first pixel
  int left = 0;                           ///< the rectangle to read or write, in this surface
  int top = 0;
  int right = 0;
  int bottom = 0;
  int stride_px = 0;
  int width = 0;
  int height = 0;
  std::uint32_t clear_color = 0;  ///< for g2d_clear(): R in the low byte, then G, B, A
  SurfaceOrientation orientation = SurfaceOrientation::none;
};

/// struct g2d_surface. `Address` is int before version 6.4.11:1049711, then unsigned long.
template <class Address>
struct RawSurface {
  int format;
  Address planes[3];
  int left, top, right, bottom;
  int stride, width, height;
  int blend_factor;
  int global_alpha;
  int clear_color;
  int rotation;
};

/// struct g2d_buf, with the same `Address`.
template <class Address>
struct RawBuffer {
  void* handle;
  void* address;
  Address physical;
  int size;
};

}  // namespace halyard::image::g2d
