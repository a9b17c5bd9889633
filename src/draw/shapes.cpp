// SPDX-License-Identifier: Apache-2.0
// Draws boxes, dashed boxes and tags. Polylines: polyline.cpp.
#include "draw/shapes.h"

#include <cmath>

namespace halyard::draw {
namespace {

constexpr std::size_t max_corners = 64;

std::uint8_t to_coverage(float part) noexcept {
  return static_cast<std::uint8_t>(std::lround(std::clamp(part, 0.0F, 1.0F) * 255.0F));
}

// Coverage from the distance of the pixel's centre to the arc; the error is below 1/20 of a pixel.
Corner make_corner(int radius, int line) {
  Corner corner{radius, {}};
  corner.coverage.reserve(static_cast<std::size_t>(radius) * static_cast<std::size_t>(radius));
  const auto r = static_cast<float>(radius);
  const int inner = line > 0 ? radius - line : 0;
  for (int y = 0; y < radius; ++y) {
    for (int x = 0; x < radius; ++x) {
      const float d =
          std::hypot(r - (static_cast<float>(x) + 0.5F), r - (static_cast<float>(y) + 0.5F));
      float part = std::clamp(r - d + 0.5F, 0.0F, 1.0F);
      if (inner > 0) part -= std::clamp(static_cast<float>(inner) - d + 0.5F, 0.0F, 1.0F);
      corner.coverage.push_back(to_coverage(part));
    }
  }
  return corner;
}

// Blends the corner with its top left pixel at (x, y), mirrored as requested.
void blend_corner(const Canvas& canvas, int x, int y, const Corner& corner, bool mirror_x,
                  bool mirror_y, const Color& color) noexcept {
  const int n = corner.radius;
  const Rect r = intersect({x, y, x + n, y + n}, canvas.bounds());
  for (int py = r.y0; py < r.y1; ++py) {
    const int row = mirror_y ? n - 1 - (py - y) : py - y;
    for (int px = r.x0; px < r.x1; ++px) {
      const int column = mirror_x ? n - 1 - (px - x) : px - x;
      const unsigned coverage = corner.coverage[static_cast<std::size_t>(row * n + column)];
      if (coverage != 0) blend_pixel(canvas.at(px, py), color, coverage);
    }
  }
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

void stroke_box(const Canvas& canvas, const Rect& outer, int line, int radius, const Color& color,
                CornerCache& corners) {
  if (intersect(outer, canvas.bounds()).empty()) return;
  if (outer.width() <= 2 * line || outer.height() <= 2 * line) {
    fill_round(canvas, outer, radius, true, color, corners);
    return;
  }
  const int r = fitting_radius(outer, radius);
  fill(canvas, {outer.x0 + r, outer.y0, outer.x1 - r, outer.y0 + line}, color);
  fill(canvas, {outer.x0 + r, outer.y1 - line, outer.x1 - r, outer.y1}, color);
  fill(canvas, {outer.x0, outer.y0 + r, outer.x0 + line, outer.y1 - r}, color);
  fill(canvas, {outer.x1 - line, outer.y0 + r, outer.x1, outer.y1 - r}, color);
  if (r == 0) return;
  const Corner& corner = corners.get(r, line);
  blend_corner(canvas, outer.x0, outer.y0, corner, false, false, color);
  blend_corner(canvas, outer.x1 - r, outer.y0, corner, true, false, color);
  blend_corner(canvas, outer.x0, outer.y1 - r, corner, false, true, color);
  blend_corner(canvas, outer.x1 - r, outer.y1 - r, corner, true, true, color);
}

void stroke_dashed(const Canvas& canvas, const Rect& outer, int line, int dash,
                   const Color& color) noexcept {
  if (intersect(outer, canvas.bounds()).empty()) return;
  const int period = 2 * dash;
  const int last_x = std::min(outer.x1, canvas.width);
  for (int x = outer.x0 + first_visible(outer.x0, 0, period) * period; x < last_x; x += period) {
    const int end = std::min(x + dash, outer.x1);
    fill(canvas, {x, outer.y0, end, outer.y0 + line}, color);
    fill(canvas, {x, std::max(outer.y1 - line, outer.y0), end, outer.y1}, color);
  }
  const int last_y = std::min(outer.y1, canvas.height);
  for (int y = outer.y0 + first_visible(outer.y0, 0, period) * period; y < last_y; y += period) {
    const int end = std::min(y + dash, outer.y1);
    fill(canvas, {outer.x0, y, outer.x0 + line, end}, color);
    fill(canvas, {std::max(outer.x1 - line, outer.x0), y, outer.x1, end}, color);
  }
}

void fill_round(const Canvas& canvas, const Rect& rect, int radius, bool round_bottom,
                const Color& color, CornerCache& corners) {
  if (intersect(rect, canvas.bounds()).empty()) return;
  const int r = fitting_radius(rect, radius);
  const int bottom = round_bottom ? r : 0;
  fill(canvas, {rect.x0 + r, rect.y0, rect.x1 - r, rect.y0 + r}, color);
  fill(canvas, {rect.x0, rect.y0 + r, rect.x1, rect.y1 - bottom}, color);
  fill(canvas, {rect.x0 + r, rect.y1 - bottom, rect.x1 - r, rect.y1}, color);
  if (r == 0) return;
  const Corner& corner = corners.get(r, 0);
  blend_corner(canvas, rect.x0, rect.y0, corner, false, false, color);
  blend_corner(canvas, rect.x1 - r, rect.y0, corner, true, false, color);
  if (!round_bottom) return;
  blend_corner(canvas, rect.x0, rect.y1 - r, corner, false, true, color);
  blend_corner(canvas, rect.x1 - r, rect.y1 - r, corner, true, true, color);
}

}  // namespace halyard::draw
