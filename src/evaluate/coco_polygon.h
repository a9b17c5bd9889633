// SPDX-License-Identifier: Apache-2.0
// Polygons of COCO files as masks.
#pragma once

#include <optional>
#include <span>

#include "halyard/rle.h"

namespace halyard::evaluate {

/// The pixels that one polygon, x y x y ..., at least three points, covers of an image. Its
/// outline is walked at five times the resolution, as COCO's masks are made, so that areas and
/// overlaps are those that others measure; polygon_fill() asks where the centres of pixels lie.
/// Extents 1..65535. Nothing when the outline is longer than 2^24 of its steps, or not finite.
std::optional<Rle> coco_polygon(std::span<const double> points, Size size);

}  // namespace halyard::evaluate
