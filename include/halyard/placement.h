// SPDX-License-Identifier: Apache-2.0
// Placement: where the pixels of a converted picture came from, both ways.
#pragma once

#include <array>
#include <vector>

#include "halyard/detection.h"
#include "halyard/export.h"
#include "halyard/geometry.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// The exact map between source and destination pixels of one convert (crop -> flip -> rotate ->
/// fit
/// -> place). A small value; reentrant.
class Placement {
 public:
  /// Identity on a picture of size 0 x 0.
  Placement() = default;
  /// Builds the map. `crop` lies in `source`; `content` is the rectangle of the destination that
  /// the turned crop fills. All extents must be at least 1.
  Placement(Size source, Region crop, Flip flip, Rotation rotation, Size destination,
            Region content) noexcept;

  Size source() const noexcept { return source_; }
  Size destination() const noexcept { return destination_; }
  Region crop() const noexcept { return crop_; }
  /// The destination rectangle that shows the picture; everything else is pad.
  Region content() const noexcept { return content_; }

  /// Continuous pixel coordinates, not clipped.
  Point to_source(Point destination) const noexcept;
  Point to_destination(Point source) const noexcept;
  /// Maps the corners, orders them, and clips the box to the source picture (to_source only).
  Box to_source(const Box& destination) const noexcept;
  Box to_destination(const Box& source) const noexcept;
  /// Every box mapped by to_source; scores, labels and order stay.
  std::vector<Detection> to_source(std::vector<Detection> detections) const;

 private:
  /// destination -> source: x_s = m[0] x + m[1] y + m[2], y_s = m[3] x + m[4] y + m[5].
  std::array<double, 6> inverse_{1, 0, 0, 0, 1, 0};
  std::array<double, 6> forward_{1, 0, 0, 0, 1, 0};
  Size source_, destination_;
  Region crop_, content_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
