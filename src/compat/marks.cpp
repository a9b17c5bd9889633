// SPDX-License-Identifier: Apache-2.0
#include "compat/marks.h"

#include <algorithm>
#include <cmath>

namespace halyard::compat {
namespace {

bool is_finite(Point p) noexcept {
  return std::isfinite(p.x) && std::isfinite(p.y);
}

// The part of the line from a to b that is inside `size` with a margin, as fractions of the line
// (Liang and Barsky). first > last: nothing is inside.
struct Part {
  float first = 0, last = 1;
};

Part visible(Point a, Point b, Size size, float margin) noexcept {
  Part part;
  const auto cut = [&part](float start, float step, float minimum, float maximum) {
    if (step == 0) {
      if (start < minimum || start > maximum) part.last = -1;
      return;
    }
    const float one = (minimum - start) / step, other = (maximum - start) / step;
    part.first = std::max(part.first, std::min(one, other));
    part.last = std::min(part.last, std::max(one, other));
  };
  cut(a.x, b.x - a.x, -margin, static_cast<float>(size.width) + margin);
  cut(a.y, b.y - a.y, -margin, static_cast<float>(size.height) + margin);
  return part;
}

void draw_line(Target& target, Point a, Point b, std::int32_t width,
               const std::array<Paint, 4>& paints) noexcept {
  const Part part = visible(a, b, target.size(), static_cast<float>(width));
  if (part.first > part.last) return;
  const Point from{a.x + part.first * (b.x - a.x), a.y + part.first * (b.y - a.y)};
  const Point to{a.x + part.last * (b.x - a.x), a.y + part.last * (b.y - a.y)};
  const float length = std::max(std::abs(to.x - from.x), std::abs(to.y - from.y));
  const auto steps = static_cast<std::int32_t>(std::ceil(length));
  for (std::int32_t i = 0; i <= steps; ++i) {
    const float share = steps == 0 ? 0.0F : static_cast<float>(i) / static_cast<float>(steps);
    draw_dot(target, {from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)}, width,
             paints);
  }
}

}  // namespace

std::array<Point, 4> corners_of(const RotatedBox& box) noexcept {
  const float c = std::cos(box.angle), s = std::sin(box.angle);
  const auto corner = [&](float u, float v) {
    const float x = u * box.width / 2, y = v * box.height / 2;
    return Point{box.cx + x * c - y * s, box.cy + x * s + y * c};
  };
  return {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)};
}

void draw_quad(Target& target, const std::array<Point, 4>& corners, std::int32_t width,
               const std::array<Paint, 4>& paints) noexcept {
  if (!std::all_of(corners.begin(), corners.end(), is_finite)) return;
  for (std::size_t i = 0; i < corners.size(); ++i)
    draw_line(target, corners[i], corners[(i + 1) % corners.size()], width, paints);
}

void draw_dot(Target& target, Point at, std::int32_t side,
              const std::array<Paint, 4>& paints) noexcept {
  if (!is_finite(at)) return;
  const Size size = target.size();
  const auto first = [side](float center, std::int32_t maximum) {
    const float low = -static_cast<float>(side), high = static_cast<float>(maximum + side);
    return static_cast<std::int32_t>(std::floor(std::clamp(center, low, high))) - side / 2;
  };
  const std::int32_t x = first(at.x, size.width), y = first(at.y, size.height);
  const RowRange rows{std::max(y, 0), std::min(y + side, size.height)};
  const std::int32_t left = std::max(x, 0), right = std::min(x + side, size.width);
  if (rows.begin < rows.end && left < right) target.fill(rows, left, right, paints);
}

}  // namespace halyard::compat
