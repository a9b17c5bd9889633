// SPDX-License-Identifier: Apache-2.0
// An image in memory whose runs of pixels can be blended with one colour.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "halyard/geometry.h"
#include "halyard/mask_draw.h"
#include "halyard/tensor.h"

namespace halyard::compat {

/// A colour in a plane's own channel order, repeated so that runs are blended in blocks. A block of
/// 48 bytes holds whole pixels of 1, 3 and 4 bytes.
struct Paint {
  static constexpr std::size_t block = 48;
  /// A byte p becomes (add + p * keep + 127) / 255. Alpha keeps its value.
  std::array<std::uint16_t, block> add{};
  std::array<std::uint16_t, block> keep{};
  /// true if every `keep` is 0 or 255: then a byte p becomes (p & mask) | value.
  bool is_opaque = false;
  std::array<std::uint8_t, block> value{};
  std::array<std::uint8_t, block> mask{};
};

/// A range of rows of an image.
struct RowRange {
  std::int32_t begin = 0;
  std::int32_t end = INT32_MAX;
};

/// A mapped u8 image of format rgb, bgr, rgba, bgra, planar_rgb or planar_rgba.
class Target {
 public:
  /// Errors: invalid_argument (not an image), unsupported (format, dtype), those of mapping.
  static Result<Target> open(Tensor& image);

  Size size() const noexcept { return size_; }
  /// Sets all bytes to 0.
  void clear() noexcept;
  /// Copies rows from `from`, an image of the same size and format; null: sets them to 0.
  void start_rows(const TensorMap* from, RowRange rows) noexcept;
  /// Blends columns [begin, end) of a row; both must be inside the image.
  void blend(std::int32_t row, std::int32_t begin, std::int32_t end,
             const std::array<Paint, 4>& paints) noexcept;
  /// Stores columns [begin, end) of rows [rows.begin, rows.end); all must be inside the image, and
  /// the paints must be opaque.
  void fill(RowRange rows, std::int32_t begin, std::int32_t end,
            const std::array<Paint, 4>& paints) noexcept;
  /// The colour's paints for the planes, with `alpha` 0..255 instead of its own alpha.
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
  std::size_t pixel_bytes_ = 0;  ///< bytes of a pixel in a plane
  std::array<std::size_t, 4>
      colors_{};  ///< channel 0..3 of byte k of a packed pixel, or of plane k
};

/// Checks that Target::open() supports the image.
Status check_target(const Tensor& image);

/// A box in whole pixels: columns [left, right), rows [top, bottom).
struct PixelBox {
  std::int32_t left = 0;
  std::int32_t top = 0;
  std::int32_t right = 0;
  std::int32_t bottom = 0;
};
/// Rounds a box in pixels to whole pixels and cuts it to where its outline of `width` px can be
/// visible. nullopt if the box is not finite.
std::optional<PixelBox> pixels_of(const Box& box, Size image, std::int32_t width) noexcept;

/// Draws an outline `width` px wide around the box, clipped to the image and to `rows`. The paints
/// must be opaque.
void draw_outline(Target& target, const PixelBox& box, std::int32_t width,
                  const std::array<Paint, 4>& paints, RowRange rows = {}) noexcept;

}  // namespace halyard::compat
