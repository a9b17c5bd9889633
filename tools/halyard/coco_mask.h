// SPDX-License-Identifier: Apache-2.0
// Masks as COCO files hold them: runs down the columns, as numbers or text, and polygons.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/geometry.h"

namespace halyard::tool {

/// Lengths of runs of pixels, column after column from the left, each from the top: off, on, off
/// and so on. They add up to width * height, at most 65535 each.
struct RunMask {
  Size size;
  std::vector<std::uint32_t> runs;
};

/// The runs of COCO's text: groups of 5 bits, lowest first, from character '0' on; bit 5 says that
/// more follow, bit 4 of the last group is the sign; from the fourth run on the difference to the
/// run before the last. Nothing when the text does not end with a whole number or a run is not
/// within 0..2^32-1.
std::optional<std::vector<std::uint32_t>> parse_runs(std::string_view text);

/// Adds one polygon, x y x y ..., at least three points, to the pixels that are on. Outlines are
/// walked at five times the resolution, as COCO's masks are made, so that areas and overlaps are
/// those that others measure. False when the outline is longer than 2^24 of its steps, or not
/// finite.
class PolygonFill {
 public:
  /// Extents 1..65535.
  explicit PolygonFill(Size size) : size_(size) {}
  bool add(std::span<const double> points);
  RunMask finish() const;

 private:
  Size size_;
  RunMask mask_;  // of all so far; no runs: none yet
};

/// Pixels that are on.
double area_of(const RunMask& mask) noexcept;
/// Pixels that are on in both, which have one size.
double shared_area(const RunMask& a, const RunMask& b) noexcept;

}  // namespace halyard::tool
