// SPDX-License-Identifier: Apache-2.0
// Detection: the type that decode, track and draw share. They do not depend on each other.
#pragma once

#include <array>
#include <cstdint>

#include "halyard/export.h"
#include "halyard/geometry.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// One found object.
struct Detection {
  Box box;                   ///< in pixels of the image it refers to (see Placement::to_source)
  float score = 0;           ///< in [0, 1]
  std::int32_t label = 0;    ///< class index, from 0
  std::int32_t anchor = -1;  ///< index of the network's anchor that it comes from, -1: none
  friend bool operator==(const Detection&, const Detection&) = default;
};

/// A box that is rotated about its centre, in pixels of the image that it refers to.
struct RotatedBox {
  float cx = 0;      ///< centre
  float cy = 0;      ///< centre
  float width = 0;   ///< >= 0, along the direction of `angle`
  float height = 0;  ///< >= 0, perpendicular to it
  float angle = 0;   ///< radians, clockwise on the screen: from +x towards +y, which points down
  friend bool operator==(const RotatedBox&, const RotatedBox&) = default;
};

/// The smallest axis-aligned box around it: half extents (w |cos| + h |sin|) / 2 and (w |sin| + h
/// |cos|) / 2. Bit-identical on every machine. Not finite if the rotated box is not.
Box bounds(const RotatedBox& box) noexcept;

/// Its corners in order around it: top left, top right, bottom right and bottom left of the box
/// before it is rotated. Bit-identical on every machine.
std::array<Point, 4> corners(const RotatedBox& box) noexcept;

/// A point of an object with a fixed meaning. Pose networks give a fixed number of them per object.
struct Keypoint {
  Point at;         ///< in pixels of the image that the detection refers to; may lie outside
  float score = 0;  ///< visibility in [0, 1]; 1 if the network gives none
  friend bool operator==(const Keypoint& a, const Keypoint& b) noexcept {
    return a.at.x == b.at.x && a.at.y == b.at.y && a.score == b.score;
  }
};

}  // namespace halyard
HALYARD_EXPORTS_END
