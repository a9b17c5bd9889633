// SPDX-License-Identifier: Apache-2.0
// Corners and axis-aligned bounds of rotated boxes.
#include "halyard/detection.h"

#include <cmath>

#include "base/elementary.h"

namespace halyard {

Box bounds(const RotatedBox& box) noexcept {
  const auto [sin, cos] = sin_cos_of(box.angle);
  const double w = 0.5 * static_cast<double>(box.width);
  const double h = 0.5 * static_cast<double>(box.height);
  const double x = w * std::abs(cos) + h * std::abs(sin);
  const double y = w * std::abs(sin) + h * std::abs(cos);
  return {static_cast<float>(box.cx - x), static_cast<float>(box.cy - y),
          static_cast<float>(box.cx + x), static_cast<float>(box.cy + y)};
}

std::array<Point, 4> corners(const RotatedBox& box) noexcept {
  const auto [sin, cos] = sin_cos_of(box.angle);
  const auto corner = [&, sin = sin, cos = cos](double u, double v) {
    const double x = u * static_cast<double>(box.width) / 2;
    const double y = v * static_cast<double>(box.height) / 2;
    return Point{static_cast<float>(box.cx + x * cos - y * sin),
                 static_cast<float>(box.cy + x * sin + y * cos)};
  };
  return {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)};
}

}  // namespace halyard
