// SPDX-License-Identifier: Apache-2.0
// Draws marks other than upright outlines: rotated boxes and points.
#pragma once

#include <array>

#include "compat/target.h"
#include "halyard/detection.h"

namespace halyard::compat {

/// The corners of a rotated box in order around it, in the box's units.
std::array<Point, 4> corners_of(const RotatedBox& box) noexcept;

/// Draws a closed line through four points in pixels, `width` px wide, clipped to the image. Draws
/// nothing if a point is not finite.
void draw_quad(Target& target, const std::array<Point, 4>& corners, std::int32_t width,
               const std::array<Paint, 4>& paints) noexcept;

/// Draws a filled square of `side` px around a point in pixels, clipped to the image.
void draw_dot(Target& target, Point at, std::int32_t side,
              const std::array<Paint, 4>& paints) noexcept;

}  // namespace halyard::compat
