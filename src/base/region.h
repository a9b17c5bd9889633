// SPDX-License-Identifier: Apache-2.0
// Checks of rectangles against the image that holds them.
#pragma once

#include "halyard/geometry.h"

namespace halyard {

/// Whether the rectangle has pixels and all of them are in an image of that size. No sum can
/// overflow, whatever the numbers are.
constexpr bool is_inside(const Region& r, Size image) noexcept {
  return r.x >= 0 && r.y >= 0 && r.width > 0 && r.height > 0 && r.width <= image.width &&
         r.height <= image.height && r.x <= image.width - r.width && r.y <= image.height - r.height;
}

}  // namespace halyard
