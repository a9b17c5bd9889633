// SPDX-License-Identifier: Apache-2.0
// An image as bytes that spans of one colour are blended into.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "halyard/geometry.h"
#include "halyard/mask_draw.h"
#include "halyard/tensor.h"

namespace halyard::compat {

/// A colour in a plane's own order, repeated so that spans are blended in blocks: 48 bytes hold
/// whole pixels of 1, 3 and 4.
struct Paint {
  static constexpr std::size_t block = 48;
  /// A byte p becomes (add + p * keep + 127) / 255. Alpha keeps its value.
  std::array<std::uint16_t, block> add{};
  std::array<std::uint16_t, block> keep{};
  /// Every keep is 0 or 255: a byte p becomes (p & mask) | value.
  bool is_opaque = false;
  std::array<std::uint8_t, block> value{};
  std::array<std::uint8_t, block> mask{};
};

/// Rows of an image.
struct RowRange {
  std::int32_t begin = 0;
  std::int32_t end = INT32_MAX;
};

/// A mapped u8 image of format rgb, bgr, rgba, bgra, planar_rgb or planar_rgba.
class Target {
 public:
  /// Errors: invalid_argument (no image), unsupported (format, dtype), those of mapping.
  static Result<Target> open(Tensor& image);

  Size size() const noexcept { return size_; }
  /// Zeros everywhere.
  void clear() noexcept;
  /// Rows as `from` has them, an image of the same size and format; null: zeros.
  void start_rows(const TensorMap* from, RowRange rows) noexcept;
  /// Blends columns [begin, end) of a row; both inside the image.
  void blend(std::int32_t row, std::int32_t begin, std::int32_t end,
             const std::array<Paint, 4>& paints) noexcept;
  /// Stores columns [begin, end) of rows [rows.begin, rows.end), all inside the image; the paints
  /// are opaque.
  void fill(RowRange rows, std::int32_t begin, std::int32_t end,
            const std::array<Paint, 4>& paints) noexcept;
  /// Paints of the planes; `alpha` 0..255 in place of the colour's own.
  std::array<Paint, 4> paints_of(const MaskColor& color, unsigned alpha) const noexcept;

 private:
  struct Plane {
    std::byte* data = nullptr;
    std::size_t stride_bytes = 0;
  };
  TensorMap map_;
  Size size_;
  std::array<Plane, 4> planes_{};
  std::size_t plane_count_ = 0;
  std::size_t pixel_bytes_ = 0;          ///< in a plane
  std::array<std::size_t, 4> colors_{};  ///< of byte k of a packed pixel, or of plane k: 0..3
};

/// Whether Target::open() takes it.
Status check_target(const Tensor& image);

/// A box on pixels: columns [left, right), rows [top, bottom).
struct PixelBox {
  std::int32_t left = 0;
  std::int32_t top = 0;
  std::int32_t right = 0;
  std::int32_t bottom = 0;
};
/// The nearest pixels of a box in pixels, cut where an outline of `width` around it would not be
/// seen; none where it is not finite.
std::optional<PixelBox> pixels_of(const Box& box, Size image, std::int32_t width) noexcept;

/// Outlines of `width` pixels around the box, clipped to the image and to `rows`; the paints are
/// opaque.
void draw_outline(Target& target, const PixelBox& box, std::int32_t width,
                  const std::array<Paint, 4>& paints, RowRange rows = {}) noexcept;

}  // namespace halyard::compat
