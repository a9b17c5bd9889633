// SPDX-License-Identifier: Apache-2.0
// MaskCanvas: a mapped image, of any drawable format, that masks are drawn on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "draw/blend.h"
#include "halyard/mask_draw.h"

namespace halyard::draw {

/// Rows of a mask in the painter's buffer, at (x, y) of the image; `data` is its first byte. The
/// byte before and the byte after each row, and one such row above and below, may be written.
struct MaskBits {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

/// Borrows the image's map. Blended masks must be inside the image.
class MaskCanvas {
 public:
  /// Errors: unsupported (not an image, or of a format or dtype that cannot be drawn on),
  /// invalid_argument (the image has an orientation).
  static Status check(const Tensor& image);
  MaskCanvas(const Tensor& image, const TensorMap& map) noexcept;

  std::size_t width() const noexcept { return width_; }
  std::size_t height() const noexcept { return height_; }
  bool is_nv12() const noexcept { return format_ == PixelFormat::nv12; }
  Ink ink(const MaskColor& color, unsigned alpha) const noexcept;
  void clear() const noexcept;
  /// May write the bytes around the mask. For NV12 the rows must begin on an even row or with the
  /// mask.
  void blend(const MaskBits& bits, const Ink& ink) const noexcept;
  /// Blends a run of pixels of one row, without chroma. `ones`: `width` bytes of 255.
  void blend_run(std::size_t x, std::size_t y, std::size_t width, const std::uint8_t* ones,
                 const Ink& ink) const noexcept;
  /// The U and V bytes of block (x, y).
  std::uint8_t* chroma(std::size_t x, std::size_t y) const noexcept {
    return planes_[1].data + static_cast<std::ptrdiff_t>(y) * planes_[1].stride + 2 * x;
  }

 private:
  void blend_pixels(const MaskRows& rows, std::size_t x, std::size_t y,
                    const Ink& ink) const noexcept;
  void blend_blocks(const MaskBits& bits, const Ink& ink) const noexcept;

  PixelFormat format_;
  std::size_t width_ = 0;
  std::size_t height_ = 0;
  Colorimetry colorimetry_;
  std::array<PixelRows, 4> planes_{};
  std::array<std::size_t, 4> row_bytes_{};
  std::array<std::size_t, 4> rows_{};
  std::size_t plane_count_ = 0;
};

}  // namespace halyard::draw
