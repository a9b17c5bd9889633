// SPDX-License-Identifier: Apache-2.0
// Axis-aligned bounds of rotated boxes.
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

}  // namespace halyard
