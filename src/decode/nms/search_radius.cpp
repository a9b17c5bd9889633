// SPDX-License-Identifier: Apache-2.0
// Bounds of size and distance for boxes that overlap enough.
#include "decode/nms/search_radius.h"

#include <algorithm>
#include <cmath>

#include "base/elementary.h"

namespace halyard::decode {

Place place_of(const FlatBox& box) noexcept {
  const double x1 = box.x1, y1 = box.y1, x2 = box.x2, y2 = box.y2;
  return {(x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, box.label};
}

Place place_of(const Gaussian& box) noexcept {
  const double cos = box.cos * box.cos;
  const double sin = box.sin * box.sin;
  return {box.cx, box.cy, std::sqrt(12 * (box.along * cos + box.across * sin)),
          std::sqrt(12 * (box.along * sin + box.across * cos)), box.label};
}

SearchRadius reach_of(Overlap overlap, float threshold) noexcept {
  if (overlap == Overlap::ios) return {0, 1};
  const double t = threshold;  // a DIoU above t implies an IoU above t
  return {t, (1 - t) / (1 + t)};
}

SearchRadius reach_of_gaussians(double limit) noexcept {
  // On each axis, the distance of the marginals is at most that of the boxes. With their variances
  // a and b: ln((a + b) / (2 sqrt(a b))) / 2 + dx^2 / (4 (a + b)) < limit, where the variance of a
  // box is its extent squared / 12. The first term bounds the ratio of the extents, the second the
  // distance of the centres. sqrt(a + b) is at most `root` times sqrt(a) + sqrt(b).
  const double e = exp_of(2 * limit);
  const double ratio = 1 / (e + std::sqrt(std::max(e * e - 1, 0.0)));
  const double root = std::sqrt(1 + ratio * ratio) / (1 + ratio);
  return {ratio, 4 * root * std::sqrt(limit / 12)};
}

}  // namespace halyard::decode
