// SPDX-License-Identifier: Apache-2.0
// Trails: lines that fade towards their beginning.
#pragma once

#include <span>

#include "draw/canvas.h"
#include "halyard/geometry.h"

namespace halyard::draw {

/// A line through the points, oldest first, whose opacity rises from nearly 0 to the ink's alpha.
/// Points that are not finite break the line.
void fading_polyline(const Canvas& canvas, std::span<const Point> points, float width_px,
                     const Ink& ink);

}  // namespace halyard::draw
