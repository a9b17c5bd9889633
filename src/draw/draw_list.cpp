// SPDX-License-Identifier: Apache-2.0
#include "draw/draw_list.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "base/text/format_error.h"

namespace halyard::draw {
namespace {

void put(DrawOp& op, std::size_t vector, std::array<std::int32_t, 4> values) noexcept {
  std::copy(values.begin(), values.end(),
            op.words.begin() + 4 * static_cast<std::ptrdiff_t>(vector));
}

void put_rect(DrawOp& op, std::size_t vector, const Rect& r) noexcept {
  put(op, vector, {r.x0, r.y0, r.x1, r.y1});
}

std::int32_t bits(float value) noexcept {
  return std::bit_cast<std::int32_t>(value);
}

void put_line(DrawOp& op, std::size_t vector, const std::array<Point, 2>& line) noexcept {
  put(op, vector, {bits(line[0].x), bits(line[0].y), bits(line[1].x), bits(line[1].y)});
}

}  // namespace

void DrawList::clear() noexcept {
  operations_.clear();
  bitmaps_.clear();
  rows_ = {};
  is_complete_ = true;
}

DrawOp& DrawList::add(const Rect& rect, DrawOpKind kind, const Ink& ink) {
  DrawOp& op = operations_.emplace_back();
  rows_ = rows_.is_empty() ? RowRange{rect.y0, rect.y1}
                           : RowRange{std::min(rows_.begin, rect.y0), std::max(rows_.end, rect.y1)};
  put_rect(op, 0, rect);
  put(op, 1,
      {static_cast<std::int32_t>(kind), ink.alpha,
       ink.bytes[0] | ink.bytes[1] << 8 | ink.bytes[2] << 16, 1});
  return op;
}

void DrawList::fill(std::span<const Rect> rects, const Ink& ink) noexcept {
  try {
    for (std::size_t i = 0; i < rects.size(); ++i) {
      DrawOp& op = add(rects[i], DrawOpKind::fill, ink);
      op.words[4] += static_cast<std::int32_t>(256 * rects.size() + 65536 * i);
      for (std::size_t k = 0; k < rects.size(); ++k)
        put_rect(op, 2 + k, rects[k]);
    }
  } catch (const std::bad_alloc&) {
    is_complete_ = false;
  }
}

std::int32_t DrawList::keep(const Coverage& coverage) {
  if (coverage.bitmap != nullptr) {
    bitmaps_.push_back(*coverage.bitmap);
  } else {
    const auto own = make_coverage_bitmap(coverage.width, coverage.height);
    for (int y = 0; y < coverage.height; ++y)
      std::memcpy(own->bytes.data() + std::ptrdiff_t{y} * coverage.width,
                  coverage.data + y * coverage.stride, static_cast<std::size_t>(coverage.width));
    bitmaps_.push_back(own);
  }
  return static_cast<std::int32_t>(bitmaps_.size() - 1);
}

void DrawList::coverage(const Rect& rect, std::array<int, 2> at, const Coverage& coverage,
                        const Ink& ink) noexcept {
  try {
    const std::int32_t index = keep(coverage);
    DrawOp& op = add(rect, DrawOpKind::coverage, ink);
    if (coverage.bitmap != nullptr) {
      const CoverageBitmap& whole = **coverage.bitmap;
      const std::ptrdiff_t first = coverage.data - whole.bytes.data();
      op.words[7] = coverage.stride < 0 ? -1 : 1;
      put(op, 2,
          {at[0], at[1], static_cast<std::int32_t>(first % whole.width),
           static_cast<std::int32_t>(first / whole.width)});
    } else {
      put(op, 2, {at[0], at[1], 0, 0});
    }
    op.words[12] = index;
  } catch (const std::bad_alloc&) {
    is_complete_ = false;
  }
}

void DrawList::piece(const Rect& rect, const TrailPiece& piece, const Ink& ink) noexcept {
  try {
    DrawOp& op = add(rect, DrawOpKind::piece, ink);
    put_line(op, 2, piece.line);
    put_line(op, 3, piece.before);
    put_line(op, 4, piece.after);
    put(op, 5,
        {bits(piece.radius), bits(piece.opacity),
         (piece.has_before ? 1 : 0) + (piece.has_after ? 2 : 0), 0});
  } catch (const std::bad_alloc&) {
    is_complete_ = false;
  }
}

Status DrawList::status() const {
  if (is_complete_) return {};
  return fail(Errc::no_memory, "draw: no memory for the operations");
}

}  // namespace halyard::draw
