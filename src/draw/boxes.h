// SPDX-License-Identifier: Apache-2.0
// Shapes: box outlines and filled tags, with anti-aliased corners. They use pixels and inks, and do
// not depend on detections.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "draw/canvas.h"

namespace halyard::draw {

/// Coverage of the upper corners of a rounded box. Each has radius + 1 rows and columns: the last
/// row and the inner column are those of the straight sides. The lower corners are mirror images.
struct Corner {
  int radius = 0;
  std::shared_ptr<const CoverageBitmap> left;
  std::shared_ptr<const CoverageBitmap> right;
};

/// Corners by (radius, line width); line width 0 is the filled corner. They are few: one image size
/// needs two. The reference is valid until the next call.
class CornerCache {
 public:
  const Corner& get(int radius, int line);

 private:
  std::map<std::pair<int, int>, Corner> corners_;
};

/// Outline of `line` pixels whose outer edge is `outer`; filled if the inside is empty. Corners
/// that are rounded by less than the line are square.
void stroke_box(const Canvas& canvas, const Rect& outer, int line, int radius, const Ink& ink,
                CornerCache& corners);

/// As above, with square corners.
void stroke_box(const Canvas& canvas, const Rect& outer, int line, const Ink& ink) noexcept;

/// As above, with dashes of `dash` pixels, equal gaps and square corners.
void stroke_dashed(const Canvas& canvas, const Rect& outer, int line, int dash,
                   const Ink& ink) noexcept;

/// Filled rectangle; `round_bottom` false keeps the two lower corners square.
void fill_round(const Canvas& canvas, const Rect& rect, int radius, bool round_bottom,
                const Ink& ink, CornerCache& corners);

}  // namespace halyard::draw
