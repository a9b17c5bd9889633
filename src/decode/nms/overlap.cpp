// SPDX-License-Identifier: Apache-2.0
// Boxes ready to be compared, limits, and how near boxes must be to overlap enough.
#include "decode/nms/overlap.h"

#include <cmath>

#include "base/elementary.h"
#include "decode/nms/soft_queue.h"

namespace halyard::decode {

FlatBox flat_box(const Box& box, std::int32_t label) noexcept {
  // Vector minima treat NaN differently on each architecture.
  const bool is_finite = std::isfinite(box.x1) && std::isfinite(box.y1) && std::isfinite(box.x2) &&
                         std::isfinite(box.y2);
  const float area = is_finite ? box.area() : 0;
  if (!(area > 0) || !std::isfinite(area)) return {0, 0, 0, 0, 0, label};
  return {box.x1, box.y1, box.x2, box.y2, area, label};
}

float overlap_factor(float iou_threshold) noexcept {
  if (iou_threshold <= 0) return 0;
  const double t = iou_threshold;
  return std::nextafter(static_cast<float>(t / (1 + t)), 1.0F);
}

float overlap_limit(Overlap overlap, float threshold) noexcept {
  if (overlap == Overlap::iou) return overlap_factor(threshold);
  // The product with an area is rounded, and must not fall below an exact intersection.
  if (overlap == Overlap::ios && threshold > 0) return std::nextafter(threshold, 2.0F);
  return threshold;
}

float softened(float score, float overlap, const Rule& rule) noexcept {
  if (!(score > 0) || !(overlap > 0)) return score;
  if (rule.suppression == Suppression::soft_linear)
    return overlap < 1 ? score * (1 - overlap) : 0.0F;
  const double o = overlap;
  return score * static_cast<float>(exp_of(-(o * o) / rule.sigma));
}

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

Reach reach_of(Overlap overlap, float threshold) noexcept {
  if (overlap == Overlap::ios) return {0, 1};
  const double t = threshold;  // a distance IoU above it is an IoU above it
  return {t, (1 - t) / (1 + t)};
}

Reach reach_of_gaussians(double limit) noexcept {
  // The distance of the marginals on an axis is no larger than that of the boxes. With a and b the
  // variances there: ln((a + b) / (2 sqrt(a b))) / 2 + dx^2 / (4 (a + b)) < limit, where a box's
  // variance is its extent squared / 12. The first term bounds the ratio of the extents, the second
  // the distance, and the root of a + b is at most `root` times the sum of their roots.
  const double e = exp_of(2 * limit);
  const double ratio = 1 / (e + std::sqrt(std::max(e * e - 1, 0.0)));
  const double root = std::sqrt(1 + ratio * ratio) / (1 + ratio);
  return {ratio, 4 * root * std::sqrt(limit / 12)};
}

}  // namespace halyard::decode

namespace halyard {
namespace {

template <Overlap overlap>
float measured(const Box& a, const Box& b) noexcept {
  const auto one = decode::flat_box(a, 0);
  const auto other = decode::flat_box(b, 0);
  return one.area > 0 && other.area > 0 ? decode::overlap_of<overlap>(one, other) : 0;
}

}  // namespace

float distance_iou(const Box& a, const Box& b) noexcept {
  return measured<Overlap::diou>(a, b);
}

float intersection_over_smaller(const Box& a, const Box& b) noexcept {
  return measured<Overlap::ios>(a, b);
}

}  // namespace halyard
