// SPDX-License-Identifier: Apache-2.0
// Fills and blends mapped pixels.
#include "draw/canvas.h"

#include <cstring>

namespace halyard::draw {
namespace {

// The first row is written, the others are copies of it.
void fill_rgb(const Canvas& canvas, const Rect& r, const Color& color) noexcept {
  std::uint8_t* const first = canvas.at(r.x0, r.y0);
  const auto bytes = static_cast<std::size_t>(r.width()) * 3;
  std::memcpy(first, color.data(), 3);
  for (std::size_t done = 3; done < bytes;) {
    const std::size_t run = std::min(done, bytes - done);
    std::memcpy(first + done, first, run);
    done += run;
  }
  for (int y = r.y0 + 1; y < r.y1; ++y) {
    std::memcpy(canvas.at(r.x0, y), first, bytes);
  }
}

// Whole 32-bit words that keep the alpha byte: the compiler vectorises this, but not stores of
// three bytes.
void fill_rgba(const Canvas& canvas, const Rect& r, const Color& color) noexcept {
  const std::uint8_t value_bytes[4] = {color[0], color[1], color[2], 0};
  const std::uint8_t keep_bytes[4] = {0, 0, 0, 255};
  std::uint32_t value = 0;
  std::uint32_t keep = 0;
  std::memcpy(&value, value_bytes, 4);
  std::memcpy(&keep, keep_bytes, 4);
  for (int y = r.y0; y < r.y1; ++y) {
    std::uint8_t* row = canvas.at(r.x0, y);
    for (int x = 0; x < r.width(); ++x) {
      std::uint32_t pixel = 0;
      std::memcpy(&pixel, row + x * 4, 4);
      pixel = (pixel & keep) | value;
      std::memcpy(row + x * 4, &pixel, 4);
    }
  }
}

}  // namespace

void fill(const Canvas& canvas, const Rect& rect, const Color& color) noexcept {
  const Rect r = intersect(rect, canvas.bounds());
  if (r.empty()) return;
  if (canvas.channels == 3) {
    fill_rgb(canvas, r, color);
  } else {
    fill_rgba(canvas, r, color);
  }
}

void blend_mask(const Canvas& canvas, const Rect& clip, int x, int y, const Mask& mask,
                const Color& color) noexcept {
  const Rect r =
      intersect(intersect({x, y, x + mask.width, y + mask.height}, clip), canvas.bounds());
  for (int row = r.y0; row < r.y1; ++row) {
    const std::uint8_t* coverage =
        mask.data + static_cast<std::ptrdiff_t>(row - y) * mask.stride_bytes + (r.x0 - x);
    std::uint8_t* pixel = canvas.at(r.x0, row);
    for (int i = 0; i < r.width(); ++i, pixel += canvas.channels) {
      if (coverage[i] == 0) continue;
      if (coverage[i] == 255) {
        std::memcpy(pixel, color.data(), 3);
      } else {
        blend_pixel(pixel, color, coverage[i]);
      }
    }
  }
}

}  // namespace halyard::draw
