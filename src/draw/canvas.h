// SPDX-License-Identifier: Apache-2.0
// Canvas: the mapped pixels that are drawn on, and the three operations on them: opaque fill,
// blending one pixel, blending through a coverage mask. All clip; none changes alpha.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "halyard/draw.h"

namespace halyard::draw {

/// Half-open pixel rectangle; empty when x1 <= x0 or y1 <= y0. Coordinates stay within +-2^24, so
/// that sums of a few of them fit.
struct Rect {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  int width() const noexcept { return x1 - x0; }
  int height() const noexcept { return y1 - y0; }
  bool empty() const noexcept { return x1 <= x0 || y1 <= y0; }
  friend bool operator==(const Rect&, const Rect&) = default;
};

inline Rect intersect(const Rect& a, const Rect& b) noexcept {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

/// Borrowed pixels, 3 (R, G, B) or 4 (R, G, B, A) bytes each.
struct Canvas {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
  int width = 0;
  int height = 0;
  int channels = 3;
  Rect bounds() const noexcept { return {0, 0, width, height}; }
  std::uint8_t* at(int x, int y) const noexcept {
    return data + y * stride_bytes + static_cast<std::ptrdiff_t>(x) * channels;
  }
};

/// Coverage 0..255 per pixel, row by row.
struct Mask {
  const std::uint8_t* data = nullptr;
  int width = 0;
  int height = 0;
  int stride_bytes = 0;
};

/// round((color * alpha + pixel * (255 - alpha)) / 255), exact.
inline void blend_pixel(std::uint8_t* pixel, const Color& color, unsigned alpha) noexcept {
  for (std::size_t c = 0; c < 3; ++c) {
    const unsigned sum = color[c] * alpha + pixel[c] * (255U - alpha) + 128U;
    pixel[c] = static_cast<std::uint8_t>((sum + (sum >> 8U)) >> 8U);
  }
}

/// Opaque fill.
void fill(const Canvas& canvas, const Rect& rect, const Color& color) noexcept;

/// The mask's top left pixel is at (x, y). Only pixels inside `clip` and the canvas change.
void blend_mask(const Canvas& canvas, const Rect& clip, int x, int y, const Mask& mask,
                const Color& color) noexcept;

}  // namespace halyard::draw
