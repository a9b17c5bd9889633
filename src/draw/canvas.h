// SPDX-License-Identifier: Apache-2.0
// Canvas: a mapped image of any drawable format, and the operations on its pixels: fill, blend
// through coverage, and blend through masks. All clip; none changes alpha channels.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "draw/coverage_bitmap.h"
#include "draw/mask/mask_blend.h"
#include "halyard/palette.h"
#include "halyard/tensor.h"

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

/// Coverage 0..255 per pixel, row by row. A negative stride begins at the last row in memory.
struct Coverage {
  const std::uint8_t* data = nullptr;
  int width = 0;
  int height = 0;
  std::ptrdiff_t stride = 0;
  /// The bitmap that the bytes are a part of; null if there is none.
  const std::shared_ptr<const CoverageBitmap>* bitmap = nullptr;
};

class DrawList;

/// Rows of a mask in a painter's buffer, at (x, y) of the image; `data` is its first byte, and a
/// byte of at least 128 is on. The byte before and the byte after each row, and one such row above
/// and below, may be written. MaskBand provides the memory.
struct MaskBits {
  std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

/// Borrows the image's map, or a list that stores the operations. Formats: rgb, bgr, rgba, bgra,
/// planar_rgb, planar_rgba, nv12 and grey, of bytes.
///
/// A pixel p with the weight a of an ink becomes round((c a + p (255 - a)) / 255). A chroma sample
/// of nv12 becomes the average of the blended chroma of its four pixels, rounded once per
/// operation; at odd borders the last column or row replaces the missing one.
class Canvas {
 public:
  /// Errors: unsupported (not an image, or of a format or dtype that cannot be drawn on),
  /// invalid_argument (the image has an orientation).
  static Status check(const Tensor& image);
  Canvas(const Tensor& image, const TensorMap& map) noexcept;
  /// `planes` in the format's order; unused ones are null.
  Canvas(PixelFormat format, Size size, const Colorimetry& resolved,
         const std::array<PixelRows, 4>& planes) noexcept;
  /// Without pixels: fill() and blend_coverage() add to `list`, and no other operation may be
  /// called.
  Canvas(const Tensor& image, DrawList& list) noexcept;

  /// Where operations are stored; null: they change pixels.
  DrawList* list() const noexcept { return list_; }
  int width() const noexcept { return size_.width; }
  int height() const noexcept { return size_.height; }
  bool is_nv12() const noexcept { return format_ == PixelFormat::nv12; }
  Rect bounds() const noexcept { return {0, 0, size_.width, size_.height}; }
  /// The same pixels; fill() and blend_coverage() change only those inside `rect`.
  Canvas clipped(const Rect& rect) const noexcept;
  /// What fill() and blend_coverage() may change.
  const Rect& clip() const noexcept { return clip_; }

  /// The colour in the image's bytes, with `alpha` 0..255 as its weight. nv12: in the image's
  /// matrix and range. grey: 0.299 R + 0.587 G + 0.114 B.
  Ink ink(const Color& color, unsigned alpha) const noexcept;
  Ink ink(const Color& color) const noexcept { return ink(color, color.a); }

  /// Copies rows [begin, end) from an image of the same size and format; null: clears them, also
  /// their alpha. `begin` must be even for nv12.
  void start_rows(const TensorMap* from, int begin, int end) const noexcept;
  /// Fills rectangles that do not overlap, at most four, as one operation.
  void fill(std::span<const Rect> rects, const Ink& ink) const noexcept;
  void fill(const Rect& rect, const Ink& ink) const noexcept { fill({&rect, 1}, ink); }
  /// The weight of a pixel is the product of its coverage and the ink's alpha. The top left pixel
  /// is at (x, y).
  void blend_coverage(int x, int y, const Coverage& coverage, const Ink& ink) const noexcept;
  /// The mask must be inside the image. May write the bytes around it. For nv12 the rows must begin
  /// on an even row or with the mask.
  void blend_mask(const MaskBits& bits, const Ink& ink) const noexcept;
  /// Blends a run of pixels of one row, inside the image, without chroma.
  void blend_run(std::size_t x, std::size_t y, std::size_t width, const Ink& ink) const noexcept;
  /// The U and V bytes of block (x, y).
  std::uint8_t* chroma(std::size_t x, std::size_t y) const noexcept {
    return planes_[1].data + static_cast<std::ptrdiff_t>(y) * planes_[1].stride + 2 * x;
  }

 private:
  PixelRows at(std::size_t plane, std::size_t x, std::size_t y) const noexcept;
  void blend_on(const MaskRows& rows, std::size_t x, std::size_t y, const Ink& ink) const noexcept;
  void fill_pixels(const Rect& rect, const Ink& ink) const noexcept;
  void fill_blocks(std::span<const Rect> rects, const Ink& ink) const noexcept;
  void fill_block(std::span<const Rect> rects, std::size_t index, int x, int y,
                  const Ink& ink) const noexcept;
  void blend_covered_blocks(const Rect& rect, const Coverage& coverage,
                            const Ink& ink) const noexcept;
  void blend_blocks(const MaskBits& bits, const Ink& ink) const noexcept;

  DrawList* list_ = nullptr;
  PixelFormat format_;
  Size size_;
  Rect clip_;
  Colorimetry colorimetry_;
  std::array<PixelRows, 4> planes_{};
  std::size_t plane_count_ = 0;
  std::size_t color_planes_ = 0;  ///< planes of whole pixels, without alpha and chroma
  std::size_t pixel_bytes_ = 0;   ///< bytes of a pixel in such a plane
};

}  // namespace halyard::draw
