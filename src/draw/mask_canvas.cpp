// SPDX-License-Identifier: Apache-2.0
// Converts colours to the bytes of a format, and blends masks into its planes.
#include "draw/mask_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/text/format_error.h"
#include "draw/check_upright.h"

namespace halyard::draw {
namespace {

bool is_drawable(PixelFormat format) noexcept {
  switch (format) {
    case PixelFormat::rgb:
    case PixelFormat::bgr:
    case PixelFormat::rgba:
    case PixelFormat::bgra:
    case PixelFormat::planar_rgb:
    case PixelFormat::planar_rgba:
    case PixelFormat::nv12:
      return true;
    default:
      return false;
  }
}

std::uint8_t code(double value) noexcept {
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

Ink yuv_ink(const MaskColor& color, unsigned alpha, const Colorimetry& colorimetry) noexcept {
  const RgbToYuv m = rgb_to_yuv(colorimetry.encoding, colorimetry.range);
  const double luma = m.kr * color[0] + m.kg * color[1] + m.kb * color[2];
  return {{code(m.y_offset + m.y_scale * luma), code(128 + m.u_scale * (color[2] - luma)),
           code(128 + m.v_scale * (color[0] - luma)), 0},
          static_cast<std::uint8_t>(alpha)};
}

}  // namespace

Status MaskCanvas::check(const Tensor& image) {
  const auto format = image.format();
  if (!format) return fail(Errc::unsupported, "image: must have a pixel format");
  if (!is_drawable(*format)) {
    return fail(Errc::unsupported,
                "image: format must be rgb, bgr, rgba, bgra, planar_rgb, planar_rgba or nv12", "{}",
                to_string(*format));
  }
  if (image.dtype() == DType::u8) return check_upright(image);
  return fail(Errc::unsupported, "image: dtype must be u8", "{}", to_string(image.dtype()));
}

MaskCanvas::MaskCanvas(const Tensor& image, const TensorMap& map) noexcept
    : format_(*image.format()),
      width_(image.width()),
      height_(image.height()),
      colorimetry_(resolve(image.colorimetry(), image.height())),
      plane_count_(map.plane_count()) {
  for (std::size_t i = 0; i < plane_count_; ++i) {
    const MappedPlane& plane = map.plane(i);
    planes_[i] = {reinterpret_cast<std::uint8_t*>(plane.writable),
                  static_cast<std::ptrdiff_t>(plane.stride_bytes)};
    row_bytes_[i] = plane.row_bytes;
    rows_[i] = plane.rows;
  }
}

Ink MaskCanvas::ink(const MaskColor& color, unsigned alpha) const noexcept {
  const bool is_swapped = format_ == PixelFormat::bgr || format_ == PixelFormat::bgra;
  if (is_nv12()) return yuv_ink(color, alpha, colorimetry_);
  if (is_swapped) return {{color[2], color[1], color[0], 0}, static_cast<std::uint8_t>(alpha)};
  return {{color[0], color[1], color[2], 0}, static_cast<std::uint8_t>(alpha)};
}

void MaskCanvas::clear() const noexcept {
  const Ink black = ink({0, 0, 0, 0}, 0);
  for (std::size_t i = 0; i < plane_count_; ++i) {
    for (std::size_t y = 0; y < rows_[i]; ++y) {
      std::memset(planes_[i].data + static_cast<std::ptrdiff_t>(y) * planes_[i].stride,
                  is_nv12() ? black.bytes[i] : 0, row_bytes_[i]);
    }
  }
}

void MaskCanvas::blend(const MaskBits& bits, const Ink& ink) const noexcept {
  if (ink.alpha == 0) return;
  blend_pixels({bits.data, bits.stride, bits.width, bits.height}, bits.x, bits.y, ink);
  if (is_nv12()) blend_blocks(bits, ink);
}

void MaskCanvas::blend_run(std::size_t x, std::size_t y, std::size_t width,
                           const std::uint8_t* ones, const Ink& ink) const noexcept {
  blend_pixels({ones, 0, width, 1}, x, y, ink);
}

void MaskCanvas::blend_pixels(const MaskRows& rows, std::size_t x, std::size_t y,
                              const Ink& ink) const noexcept {
  const auto pixels = [&](std::size_t plane, std::size_t bytes) {
    const PixelRows& p = planes_[plane];
    return PixelRows{p.data + static_cast<std::ptrdiff_t>(y) * p.stride + x * bytes, p.stride};
  };
  switch (format_) {
    case PixelFormat::rgb:
    case PixelFormat::bgr:
      return blend_packed3(rows, pixels(0, 3), ink);
    case PixelFormat::rgba:
    case PixelFormat::bgra:
      return blend_packed4(rows, pixels(0, 4), ink);
    case PixelFormat::nv12:
      return blend_plane(rows, pixels(0, 1), ink, 0);
    default:
      for (std::size_t c = 0; c < 3; ++c)
        blend_plane(rows, pixels(c, 1), ink, c);
  }
}

// A block may extend beyond the mask by a column and a row. These mask bytes are off, or at the
// image's border a copy of the last ones.
void MaskCanvas::blend_blocks(const MaskBits& bits, const Ink& ink) const noexcept {
  const std::size_t before = bits.x % 2, right = bits.x + bits.width;
  const std::size_t blocks = (before + bits.width + 1) / 2;
  const std::size_t top = bits.y - bits.y % 2, bottom = bits.y + bits.height;
  std::uint8_t* const first = bits.data - before;
  for (std::size_t y = 0; y < bits.height; ++y) {
    std::uint8_t* const row = bits.data + y * bits.stride;
    if (before != 0) row[-1] = 0;
    row[bits.width] = right == width_ ? row[bits.width - 1] : 0;
  }
  if (bits.y % 2 != 0) std::memset(first - bits.stride, 0, 2 * blocks);
  if (bottom % 2 != 0) {
    std::uint8_t* const below = first + bits.height * bits.stride;
    std::memset(below, 0, 2 * blocks);
    if (bottom == height_) std::memcpy(below, below - bits.stride, 2 * blocks);
  }
  const std::uint8_t* upper = first - (bits.y - top) * bits.stride;
  for (std::size_t y = top; y < bottom; y += 2, upper += 2 * bits.stride)
    blend_chroma(upper, upper + bits.stride, blocks, chroma(bits.x / 2, y / 2), ink);
}

}  // namespace halyard::draw
