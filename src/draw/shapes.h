// SPDX-License-Identifier: Apache-2.0
// Shapes: box outlines and filled tags, anti-aliased where they are not axis-aligned. They use
// pixels and colours, and do not depend on detections.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "draw/canvas.h"
#include "halyard/geometry.h"

namespace halyard::draw {

/// Coverage of the top left corner of a rounded box; the other three are its mirror images.
struct Corner {
  int radius = 0;
  std::vector<std::uint8_t> coverage;  ///< radius x radius
};

/// Corners by (radius, line width); line width 0 is the filled corner. They are few: one image size
/// needs two. The reference is valid until the next call.
class CornerCache {
 public:
  const Corner& get(int radius, int line);

 private:
  std::map<std::pair<int, int>, Corner> corners_;
};

/// Outline of `line` pixels whose outer edge is `outer`; filled if the inside is empty.
void stroke_box(const Canvas& canvas, const Rect& outer, int line, int radius, const Color& color,
                CornerCache& corners);

/// As above, with dashes of `dash` pixels, equal gaps and square corners.
void stroke_dashed(const Canvas& canvas, const Rect& outer, int line, int dash,
                   const Color& color) noexcept;

/// Filled rectangle; `round_bottom` false keeps the two lower corners square.
void fill_round(const Canvas& canvas, const Rect& rect, int radius, bool round_bottom,
                const Color& color, CornerCache& corners);

}  // namespace halyard::draw
