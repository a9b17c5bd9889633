// SPDX-License-Identifier: Apache-2.0
// The visible part of a line.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include "halyard/geometry.h"

namespace halyard::draw {

/// The first and the last fraction of the line from `a` to `b` that is inside a rectangle of
/// `width` x `height` enlarged by `margin` on all sides (Liang and Barsky). nullopt: no part is.
inline std::optional<std::array<float, 2>> visible_part(Point a, Point b, int width, int height,
                                                        float margin) noexcept {
  float from = 0;
  float to = 1;
  const auto cut = [&](float start, float delta, float low, float high) {
    if (delta == 0) return start >= low && start <= high;
    const float t0 = (low - start) / delta;
    const float t1 = (high - start) / delta;
    from = std::max(from, std::min(t0, t1));
    to = std::min(to, std::max(t0, t1));
    return from <= to;
  };
  if (!cut(a.x, b.x - a.x, -margin, static_cast<float>(width) + margin)) return std::nullopt;
  if (!cut(a.y, b.y - a.y, -margin, static_cast<float>(height) + margin)) return std::nullopt;
  return std::array{from, to};
}

/// The point at fraction `t` of the line.
inline Point point_at(Point a, Point b, float t) noexcept {
  return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
}

}  // namespace halyard::draw
