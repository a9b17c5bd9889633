// SPDX-License-Identifier: Apache-2.0
// Converts polygons of COCO files to masks.
#pragma once

#include <optional>
#include <span>

#include "halyard/rle.h"

namespace halyard::evaluate {

/// The pixels that one polygon (x y x y ..., at least three points) covers in an image. The outline
/// is walked at five times the resolution, as in COCO's own masks, so that areas and overlaps equal
/// those of other evaluators. (polygon_fill() tests the centres of pixels.) Extents 1..65535.
/// Nullopt if the outline is longer than 2^24 steps, or not finite.
std::optional<Rle> coco_polygon(std::span<const double> points, Size size);

}  // namespace halyard::evaluate
