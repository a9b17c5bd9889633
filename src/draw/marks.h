// SPDX-License-Identifier: Apache-2.0
// Marks without anti-aliasing: lines around rotated boxes, and points.
#pragma once

#include <array>

#include "draw/canvas.h"
#include "halyard/geometry.h"

namespace halyard::draw {

/// Draws a closed line through four points in pixels, `width` px wide. Draws nothing if a point is
/// not finite. The ink must be opaque. The line consists of squares that overlap: on nv12 its edges
/// get more of the ink's chroma than the average of their pixels.
void stroke_quad(const Canvas& canvas, const std::array<Point, 4>& corners, int width,
                 const Ink& ink) noexcept;

/// Draws a filled square of `side` px around a point in pixels.
void fill_dot(const Canvas& canvas, Point center, int side, const Ink& ink) noexcept;

}  // namespace halyard::draw
