// SPDX-License-Identifier: Apache-2.0
// DrawList: operations on the pixels of an image, stored in their order, for a device that does
// them later.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "draw/canvas.h"
#include "halyard/geometry.h"

namespace halyard::draw {

/// A straight piece of a trail, and the pieces to which it is joined.
struct TrailPiece {
  std::array<Point, 2> line{};
  std::array<Point, 2> before{};
  std::array<Point, 2> after{};
  bool has_before = false;
  bool has_after = false;
  float radius = 0;
  float opacity = 0;
};

enum class DrawOpKind : std::int32_t { fill = 0, coverage = 1, piece = 2 };

/// One operation, as shaders read it: six vectors of four integers.
/// - 0: the pixels that it touches, x0, y0, x1, y1.
/// - 1: kind + 256 x number of rectangles + 65536 x index of the own one; weight 0..255; bytes of
///   the ink, the first lowest; step from row to row of the bitmap, 1 or -1.
/// - fill, 2 to 5: the rectangles. Each has an operation of its own.
/// - coverage, 2: pixel x, y, and the place in the bitmap of that pixel's weight; 3: index in
///   bitmaps().
/// - piece, bits of floats, 2 to 4: the own line and its neighbours, x, y, x, y; 5: radius,
/// opacity,
///   1 if there is one before + 2 if there is one after.
struct DrawOp {
  std::array<std::int32_t, 24> words{};
};

/// Rows of an image, half-open.
struct RowRange {
  int begin = 0;
  int end = 0;
  bool is_empty() const noexcept { return end <= begin; }
};

/// Keeps its memory. One thread at a time.
class DrawList {
 public:
  void clear() noexcept;
  /// Rectangles inside the image that do not overlap, at most four, as one operation.
  void fill(std::span<const Rect> rects, const Ink& ink) noexcept;
  /// `rect` is the part to draw of a coverage whose top left pixel is `at`.
  void coverage(const Rect& rect, std::array<int, 2> at, const Coverage& coverage,
                const Ink& ink) noexcept;
  /// Pixels of `rect` get the weight part x opacity x the ink's alpha.
  void piece(const Rect& rect, const TrailPiece& piece, const Ink& ink) noexcept;

  std::span<const DrawOp> operations() const noexcept { return operations_; }
  const CoverageBitmap& bitmap(std::int32_t index) const noexcept {
    return *bitmaps_[static_cast<std::size_t>(index)];
  }
  /// What all operations touch.
  RowRange rows() const noexcept { return rows_; }
  /// Errors: no_memory (an operation is missing).
  Status status() const;

 private:
  DrawOp& add(const Rect& rect, DrawOpKind kind, const Ink& ink);
  std::int32_t keep(const Coverage& coverage);

  std::vector<DrawOp> operations_;
  std::vector<std::shared_ptr<const CoverageBitmap>> bitmaps_;
  RowRange rows_;
  bool is_complete_ = true;
};

}  // namespace halyard::draw
