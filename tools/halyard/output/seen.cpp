// SPDX-License-Identifier: Apache-2.0
// Keypoints and rotated boxes have the order of the detections.
#include "output/seen.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halyard::tool {
namespace {

/// The order of Ultralytics: the first corner is the centre plus both half axes.
std::vector<Point> corners_of(const RotatedBox& box) {
  const float cos = std::cos(box.angle), sin = std::sin(box.angle);
  const float ax = box.width / 2 * cos, ay = box.width / 2 * sin;
  const float bx = -box.height / 2 * sin, by = box.height / 2 * cos;
  return {{box.cx + ax + bx, box.cy + ay + by},
          {box.cx + ax - bx, box.cy + ay - by},
          {box.cx - ax - bx, box.cy - ay - by},
          {box.cx - ax + bx, box.cy - ay + by}};
}

}  // namespace

void fill_seen(const Decoded& decoded, std::span<const Detection> found, const Placement* placement,
               FrameRecord& record) {
  record.seen.clear();
  record.classes.clear();
  std::vector<Keypoint> points = decoded.keypoints;
  if (placement != nullptr) points = placement->to_source(std::move(points));
  const std::size_t each = decoded.keypoints_each;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Seen& seen = record.seen.emplace_back(Seen{found[i]});
    const auto first = points.begin() + static_cast<std::ptrdiff_t>(i * each);
    seen.keypoints.assign(first, first + static_cast<std::ptrdiff_t>(each));
    if (decoded.rotated.empty()) continue;
    seen.corners = corners_of(decoded.rotated[i]);
    if (placement == nullptr) continue;
    for (Point& corner : seen.corners)
      corner = placement->to_source(corner);
  }
  for (const auto& [label, score] : decoded.classes)
    record.classes.push_back({label, score});
}

}  // namespace halyard::tool
