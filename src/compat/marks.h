// SPDX-License-Identifier: Apache-2.0
// Marks on images beside upright outlines: rotated boxes and points.
#pragma once

#include <array>

#include "compat/target.h"
#include "halyard/detection.h"

namespace halyard::compat {

/// The corners of a rotated box, one after the other around it, in its own units.
std::array<Point, 4> corners_of(const RotatedBox& box) noexcept;

/// A closed line through four points in pixels, `width` px wide, clipped to the image. Points
/// that are not finite draw nothing.
void draw_quad(Target& target, const std::array<Point, 4>& corners, std::int32_t width,
               const std::array<Paint, 4>& paints) noexcept;

/// A filled square of `side` px about a point in pixels, clipped to the image.
void draw_dot(Target& target, Point at, std::int32_t side,
              const std::array<Paint, 4>& paints) noexcept;

}  // namespace halyard::compat
