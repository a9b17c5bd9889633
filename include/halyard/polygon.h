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

/// One closed outline in continuous coordinates of the frame: pixel (x, y) covers [x, x + 1) x
/// [y, y + 1). The last point is not the first again. Outer outlines run clockwise as seen (y
/// points down), those of holes the other way round.
struct Polygon {
  std::vector<Point> points;
  bool is_hole = false;
  /// Index of the outer outline that a hole lies in; -1 for outer ones.
  std::int32_t parent = -1;
};

/// Outlines of the pixels that are not 0, along the edges of pixels, with a point at every corner:
/// polygon_fill() gives exactly the mask back. Pixels that touch at a corner only are apart. An
/// outer outline comes before its holes. `tolerance` above 0 drops points: the outline stays within
/// so many pixels of the exact one (Ramer-Douglas-Peucker), but where fewer than three points
/// would be left the exact outline stays. Reuses the memory of `out`. Errors: invalid_argument
/// (tolerance negative or not finite).
Status mask_polygons(const MaskView& mask, std::vector<Polygon>& out, float tolerance = 0);

/// Sets 255 where the centre of a pixel lies inside an odd number of outlines, else 0: rows of
/// size.width bytes. A centre exactly on an edge belongs to what lies right of it. Errors:
/// invalid_argument (size, a point that is not finite), exhausted (the rows that all edges cross
/// sum up to more than max_polygon_crossings). Memory beside `out` is bounded, whatever the
/// outlines.
inline constexpr std::uint64_t max_polygon_crossings = std::uint64_t{1} << 28;
Status polygon_fill(std::span<const Polygon> polygons, Size size, std::vector<std::uint8_t>& out);

/// Area that it encloses, above 0 whatever the direction.
double polygon_area(const Polygon& polygon) noexcept;

}  // namespace halyard
HALYARD_EXPORTS_END
