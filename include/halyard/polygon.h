// SPDX-License-Identifier: Apache-2.0
// Outlines of masks as polygons, and back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "halyard/export.h"
#include "halyard/geometry.h"
#include "halyard/mask.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One closed outline in continuous coordinates of the frame: pixel (x, y) covers [x, x + 1) x [y,
/// y + 1). The last point does not repeat the first. As seen (y points down), outer outlines run
/// clockwise and outlines of holes run counterclockwise.
struct Polygon {
  std::vector<Point> points;
  bool is_hole = false;
  /// Index of the outer outline around a hole; -1 for outer outlines.
  std::int32_t parent = -1;
};

/// Outlines of the pixels that are not 0, along the edges of pixels, with a point at every corner:
/// polygon_fill() reproduces the mask exactly. Pixels that touch only at a corner are separate. An
/// outer outline comes before its holes. `tolerance` above 0 drops points: the outline stays within
/// that many pixels of the exact one (Ramer-Douglas-Peucker); where fewer than three points would
/// remain, the exact outline stays. Reuses the memory of `out`. Errors: invalid_argument (tolerance
/// negative or not finite).
Status mask_polygons(const MaskView& mask, std::vector<Polygon>& out, float tolerance = 0);

/// Sets a pixel to 255 if its centre lies inside an odd number of outlines, else to 0; rows are
/// size.width bytes. A centre exactly on an edge belongs to the area right of the edge. Errors:
/// invalid_argument (size, a point that is not finite), exhausted (the sum of the rows that each
/// edge crosses is above max_polygon_crossings). The memory used beside `out` is bounded for any
/// outlines.
inline constexpr std::uint64_t max_polygon_crossings = std::uint64_t{1} << 28;
Status polygon_fill(std::span<const Polygon> polygons, Size size, std::vector<std::uint8_t>& out);

/// The enclosed area; positive for both directions.
double polygon_area(const Polygon& polygon) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
