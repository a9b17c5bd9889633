// SPDX-License-Identifier: Apache-2.0
// Convex quadrilaterals: the corners of rotated boxes.
#pragma once

#include <array>

#include "halyard/evaluate.h"

namespace halyard::evaluate {

using Quad = std::array<CocoPoint, 4>;

/// Whether all corners are finite and the outline never bends to the other side, so that it does
/// not cross itself; a shape without area is convex.
bool is_convex(const Quad& quad) noexcept;

/// In square pixels, whatever the direction of the outline.
double quad_area(const Quad& quad) noexcept;

/// Area that two convex quadrilaterals share, in square pixels: exact but for rounding.
double shared_area(const Quad& a, const Quad& b) noexcept;

}  // namespace halyard::evaluate
