// SPDX-License-Identifier: Apache-2.0
#include "evaluate/quad_overlap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace halyard::evaluate {
namespace {

/// Twice the signed area of the triangle o, a, b.
double cross(const CocoPoint& o, const CocoPoint& a, const CocoPoint& b) noexcept {
  return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

/// A convex polygon of at most 8 corners: four, and one more for each cut.
struct ClippedQuad {
  std::array<CocoPoint, 8> corners;
  std::size_t count = 0;
  void add(const CocoPoint& at) noexcept {
    // Rounding may bend an edge outwards; a convex shape that is cut four times has 8 corners.
    if (count < corners.size()) corners[count++] = at;
  }
};

/// Shoelace formula, relative to the first corner.
double signed_area(const CocoPoint* corners, std::size_t count) noexcept {
  double sum = 0;
  for (std::size_t i = 1; i + 1 < count; ++i)
    sum += cross(corners[0], corners[i], corners[i + 1]);
  return sum / 2;
}

/// Keeps the part on the positive side of the line from a to b.
ClippedQuad cut(const ClippedQuad& shape, const CocoPoint& a, const CocoPoint& b) noexcept {
  ClippedQuad out;
  for (std::size_t i = 0; i < shape.count; ++i) {
    const CocoPoint& from = shape.corners[i];
    const CocoPoint& to = shape.corners[(i + 1) % shape.count];
    const double side = cross(a, b, from), next = cross(a, b, to);
    if (side >= 0) out.add(from);
    if ((side >= 0) == (next >= 0)) continue;
    const double part = side / (side - next);
    out.add({from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
  }
  return out;
}

/// The corners from `origin`, in the direction in which the area is positive.
Quad placed(Quad quad, const CocoPoint& origin) noexcept {
  for (CocoPoint& corner : quad)
    corner = {corner.x - origin.x, corner.y - origin.y};
  if (signed_area(quad.data(), quad.size()) < 0) std::reverse(quad.begin(), quad.end());
  return quad;
}

}  // namespace

bool is_convex(const Quad& quad) noexcept {
  bool has_left = false, has_right = false;
  for (std::size_t i = 0; i < quad.size(); ++i) {
    const double bend = cross(quad[i], quad[(i + 1) % 4], quad[(i + 2) % 4]);
    if (!std::isfinite(bend)) return false;
    // The bend of a line, up to the rounding of its coordinates.
    const CocoPoint &a = quad[i], &b = quad[(i + 1) % 4], &c = quad[(i + 2) % 4];
    const double scale =
        (std::abs(b.x - a.x) + std::abs(b.y - a.y)) * (std::abs(c.x - a.x) + std::abs(c.y - a.y));
    if (std::abs(bend) <= 1e-9 * scale) continue;
    (bend > 0 ? has_left : has_right) = true;
  }
  return !(has_left && has_right);
}

double quad_area(const Quad& quad) noexcept {
  return std::abs(signed_area(quad.data(), quad.size()));
}

// Sutherland and Hodgman, "Reentrant polygon clipping", Communications of the ACM 17, 1974: a is
// cut along each edge of b.
double shared_area(const Quad& a, const Quad& b) noexcept {
  if (!(quad_area(a) > 0) || !(quad_area(b) > 0)) return 0;
  const CocoPoint origin = a[0];
  const Quad shape = placed(a, origin), window = placed(b, origin);
  ClippedQuad rest;
  for (const CocoPoint& corner : shape)
    rest.add(corner);
  for (std::size_t i = 0; i < window.size() && rest.count != 0; ++i)
    rest = cut(rest, window[i], window[(i + 1) % window.size()]);
  return std::max(0.0, signed_area(rest.corners.data(), rest.count));
}

}  // namespace halyard::evaluate
