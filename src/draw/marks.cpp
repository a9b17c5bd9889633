// SPDX-License-Identifier: Apache-2.0
// Draws lines as dots of the line's width, one for each step of a pixel.
#include "draw/marks.h"

#include <cmath>

#include "draw/line_clip.h"

namespace halyard::draw {
namespace {

bool is_finite(Point p) noexcept {
  return std::isfinite(p.x) && std::isfinite(p.y);
}

void stroke_line(const Canvas& canvas, Point a, Point b, int width, const Ink& ink) noexcept {
  const auto part = visible_part(a, b, canvas.width(), canvas.height(), static_cast<float>(width));
  if (!part) return;
  const Point from = point_at(a, b, (*part)[0]);
  const Point to = point_at(a, b, (*part)[1]);
  const float length = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
  const auto steps = static_cast<int>(std::ceil(length));
  for (int i = 0; i <= steps; ++i) {
    const float share = steps == 0 ? 0.0F : static_cast<float>(i) / static_cast<float>(steps);
    fill_dot(canvas, point_at(from, to, share), width, ink);
  }
}

}  // namespace

void stroke_quad(const Canvas& canvas, const std::array<Point, 4>& corners, int width,
                 const Ink& ink) noexcept {
  if (!std::all_of(corners.begin(), corners.end(), is_finite)) return;
  for (std::size_t i = 0; i < corners.size(); ++i)
    stroke_line(canvas, corners[i], corners[(i + 1) % corners.size()], width, ink);
}

void fill_dot(const Canvas& canvas, Point center, int side, const Ink& ink) noexcept {
  if (!is_finite(center)) return;
  const auto first = [side](float middle, int maximum) {
    const auto low = static_cast<float>(-side), high = static_cast<float>(maximum + side);
    return static_cast<int>(std::floor(std::clamp(middle, low, high))) - side / 2;
  };
  const int x = first(center.x, canvas.width()), y = first(center.y, canvas.height());
  canvas.fill({x, y, x + side, y + side}, ink);
}

}  // namespace halyard::draw
