// SPDX-License-Identifier: Apache-2.0
// Draws boxes, dashed boxes and tags. Polylines: polyline.cpp.
#include "draw/boxes.h"

#include <cmath>

namespace halyard::draw {
namespace {

constexpr std::size_t max_corners = 64;

std::uint8_t to_coverage(float part) noexcept {
  return static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0F, 1.0F) * 255.0F));
}

// Coverage from the distance of the pixel's centre to the arc; the error is below 1/20 of a pixel.
// One row and one column of the straight sides follow, so that a tile may end on an even pixel.
Corner make_corner(int radius, int line) {
  const auto left = make_coverage_bitmap(radius + 1, radius + 1);
  const auto right = make_coverage_bitmap(radius + 1, radius + 1);
  const auto r = static_cast<float>(radius);
  const int inner = line > 0 ? radius - line : 0;
  const auto covered = [&](int x, int y) {
    if (x >= radius || y >= radius) return line == 0 || std::min(x, y) < line ? 1.0F : 0.0F;
    const float d =
        std::hypot(r - (static_cast<float>(x) + 0.5F), r - (static_cast<float>(y) + 0.5F));
    float part = std::clamp(r - d + 0.5F, 0.0F, 1.0F);
    if (inner > 0) part -= std::clamp(static_cast<float>(inner) - d + 0.5F, 0.0F, 1.0F);
    return part;
  };
  std::size_t at = 0;
  for (int y = 0; y <= radius; ++y) {
    for (int x = 0; x <= radius; ++x, ++at) {
      left->bytes[at] = to_coverage(covered(x, y));
      right->bytes[at] = to_coverage(covered(radius - x, y));
    }
  }
  return {radius, left, right};
}

// Extents of the tiles at the corners of a box: the radius, or one pixel more where the tile would
// end inside a 2 x 2 block, so that tiles and sides do not share chroma samples.
struct Tiles {
  int left, right, top, bottom;

  Tiles(const Rect& box, int radius) noexcept
      : left(radius), right(radius), top(radius), bottom(radius) {
    if (box.width() >= 2 * radius + 2) {
      left += (box.x0 + radius) % 2 != 0 ? 1 : 0;
      right += (box.x1 - radius) % 2 != 0 ? 1 : 0;
    }
    if (box.height() >= 2 * radius + 2) {
      top += (box.y0 + radius) % 2 != 0 ? 1 : 0;
      bottom += (box.y1 - radius) % 2 != 0 ? 1 : 0;
    }
  }
};

// Blends the upper or the lower corners of a box.
void blend_corners(const Canvas& canvas, const Rect& box, const Tiles& tiles, const Corner& corner,
                   bool is_lower, const Ink& ink) noexcept {
  const int size = corner.radius + 1;
  const int rows = is_lower ? tiles.bottom : tiles.top;
  const int y = is_lower ? box.y1 - rows : box.y0;
  const std::ptrdiff_t stride = is_lower ? -size : size;
  const std::ptrdiff_t first = is_lower ? std::ptrdiff_t{size} * (rows - 1) : 0;
  canvas.blend_coverage(
      box.x0, y, {corner.left->bytes.data() + first, tiles.left, rows, stride, &corner.left}, ink);
  canvas.blend_coverage(box.x1 - tiles.right, y,
                        {corner.right->bytes.data() + first + (size - tiles.right), tiles.right,
                         rows, stride, &corner.right},
                        ink);
}

int fitting_radius(const Rect& rect, int radius) noexcept {
  return std::clamp(std::min(rect.width(), rect.height()) / 2, 0, radius);
}

// Index of the first dash that ends after `from`, for dashes of `period` from `start`.
int first_visible(int start, int from, int period) noexcept {
  return from <= start ? 0 : (from - start) / period;
}

}  // namespace

const Corner& CornerCache::get(int radius, int line) {
  const auto found = corners_.find({radius, line});
  if (found != corners_.end()) return found->second;
  if (corners_.size() >= max_corners) corners_.clear();
  return corners_.emplace(std::pair{radius, line}, make_corner(radius, line)).first->second;
}

void stroke_box(const Canvas& canvas, const Rect& outer, int line, const Ink& ink) noexcept {
  if (intersect(outer, canvas.clip()).empty()) return;
  if (outer.width() <= 2 * line || outer.height() <= 2 * line) return canvas.fill(outer, ink);
  const Rect inner{outer.x0 + line, outer.y0 + line, outer.x1 - line, outer.y1 - line};
  const Rect sides[] = {{outer.x0, outer.y0, outer.x1, inner.y0},
                        {outer.x0, inner.y1, outer.x1, outer.y1},
                        {outer.x0, inner.y0, inner.x0, inner.y1},
                        {inner.x1, inner.y0, outer.x1, inner.y1}};
  canvas.fill(sides, ink);
}

void stroke_box(const Canvas& canvas, const Rect& outer, int line, int radius, const Ink& ink,
                CornerCache& corners) {
  if (intersect(outer, canvas.clip()).empty()) return;
  if (outer.width() <= 2 * line || outer.height() <= 2 * line) {
    fill_round(canvas, outer, radius, true, ink, corners);
    return;
  }
  const int r = fitting_radius(outer, radius);
  if (r < line) return stroke_box(canvas, outer, line, ink);
  const Tiles t(outer, r);
  const Rect sides[] = {{outer.x0 + t.left, outer.y0, outer.x1 - t.right, outer.y0 + line},
                        {outer.x0 + t.left, outer.y1 - line, outer.x1 - t.right, outer.y1},
                        {outer.x0, outer.y0 + t.top, outer.x0 + line, outer.y1 - t.bottom},
                        {outer.x1 - line, outer.y0 + t.top, outer.x1, outer.y1 - t.bottom}};
  canvas.fill(sides, ink);
  const Corner& corner = corners.get(r, line);
  blend_corners(canvas, outer, t, corner, false, ink);
  blend_corners(canvas, outer, t, corner, true, ink);
}

void stroke_dashed(const Canvas& canvas, const Rect& outer, int line, int dash,
                   const Ink& ink) noexcept {
  if (intersect(outer, canvas.clip()).empty()) return;
  const int period = 2 * dash;
  const int last_x = std::min(outer.x1, canvas.width());
  for (int x = outer.x0 + first_visible(outer.x0, 0, period) * period; x < last_x; x += period) {
    const int end = std::min(x + dash, outer.x1);
    canvas.fill({x, outer.y0, end, outer.y0 + line}, ink);
    canvas.fill({x, std::max(outer.y1 - line, outer.y0), end, outer.y1}, ink);
  }
  const int last_y = std::min(outer.y1, canvas.height());
  for (int y = outer.y0 + first_visible(outer.y0, 0, period) * period; y < last_y; y += period) {
    const int end = std::min(y + dash, outer.y1);
    canvas.fill({outer.x0, y, outer.x0 + line, end}, ink);
    canvas.fill({std::max(outer.x1 - line, outer.x0), y, outer.x1, end}, ink);
  }
}

void fill_round(const Canvas& canvas, const Rect& rect, int radius, bool round_bottom,
                const Ink& ink, CornerCache& corners) {
  if (intersect(rect, canvas.clip()).empty()) return;
  const int r = fitting_radius(rect, radius);
  if (r == 0) return canvas.fill(rect, ink);
  const Tiles t(rect, r);
  const int bottom = round_bottom ? t.bottom : 0;
  const Rect parts[] = {{rect.x0 + t.left, rect.y0, rect.x1 - t.right, rect.y0 + t.top},
                        {rect.x0, rect.y0 + t.top, rect.x1, rect.y1 - bottom},
                        {rect.x0 + t.left, rect.y1 - bottom, rect.x1 - t.right, rect.y1}};
  canvas.fill(parts, ink);
  const Corner& corner = corners.get(r, 0);
  blend_corners(canvas, rect, t, corner, false, ink);
  if (round_bottom) blend_corners(canvas, rect, t, corner, true, ink);
}

}  // namespace halyard::draw
