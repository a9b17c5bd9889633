// SPDX-License-Identifier: Apache-2.0
// Probabilistic IoU. It is computed in the coordinate systems of the two boxes, where all terms are
// positive, so thin boxes lose no precision to cancellation.
#include "decode/nms/prob_iou.h"

#include <algorithm>
#include <cmath>

#include "base/elementary.h"
#include "halyard/selection.h"

namespace halyard::decode {
namespace {

// Determinant of the sum of the two covariances.
double joint_determinant(const Gaussian& a, const Gaussian& b) noexcept {
  const double cos = a.cos * b.cos + a.sin * b.sin;  // of the angle between the boxes
  const double sin = a.sin * b.cos - a.cos * b.sin;
  return a.along * a.across + b.along * b.across +
         (a.along * b.across + a.across * b.along) * (cos * cos) +
         (a.along * b.along + a.across * b.across) * (sin * sin);
}

// The quadratic form of a box's inverse covariance at (dx, dy), times its determinant.
double form(const Gaussian& box, double dx, double dy) noexcept {
  const double u = dx * box.cos + dy * box.sin;
  const double v = dy * box.cos - dx * box.sin;
  return box.across * (u * u) + box.along * (v * v);
}

// The part of the Bhattacharyya distance that depends on the centres.
double centre_distance(const Gaussian& a, const Gaussian& b, double joint) noexcept {
  const double dx = a.cx - b.cx;
  const double dy = a.cy - b.cy;
  return 0.25 * (form(a, dx, dy) + form(b, dx, dy)) / joint;
}

// The part that depends on the shapes: half the logarithm of the joint determinant over 4 times the
// geometric mean of both determinants.
double shape_distance(const Gaussian& a, const Gaussian& b, double joint) noexcept {
  const double mean = std::sqrt(a.along * a.across) * std::sqrt(b.along * b.across);
  return std::max(0.5 * log_of(joint / (4 * mean)), 0.0);
}

}  // namespace

Gaussian gaussian_of(const RotatedBox& box, std::int32_t label) noexcept {
  Gaussian out;
  out.label = label;
  const auto [sin, cos] = sin_cos_of(box.angle);
  const double w = static_cast<double>(box.width) * box.width / 12;
  const double h = static_cast<double>(box.height) * box.height / 12;
  const bool is_whole = box.width > 0 && box.height > 0 && std::isfinite(w) && std::isfinite(h) &&
                        std::isfinite(box.cx) && std::isfinite(box.cy) && std::isfinite(sin);
  if (!is_whole) return out;
  return {box.cx, box.cy, w, h, cos, sin, label};
}

double probabilistic_iou(const Gaussian& a, const Gaussian& b) noexcept {
  if (a.is_empty() || b.is_empty()) return 0;
  const double joint = joint_determinant(a, b);
  const double distance = centre_distance(a, b, joint) + shape_distance(a, b, joint);
  return 1 - std::sqrt(1 - exp_of(-distance));
}

double distance_limit(float threshold) noexcept {
  // 1 - sqrt(1 - exp(-d)) > t. For d > 36 the left side is 0 in double precision.
  const double t = threshold;
  return std::min(-log_of(t * (2 - t)), 36.0);
}

bool is_nearer(const Gaussian& a, const Gaussian& b, double limit) noexcept {
  if (a.label != b.label) return false;
  const double joint = joint_determinant(a, b);
  const double rest = limit - centre_distance(a, b, joint);
  return rest > 0 && shape_distance(a, b, joint) < rest;
}

Place place_of(const Gaussian& box) noexcept {
  const double cos = box.cos * box.cos;
  const double sin = box.sin * box.sin;
  return {box.cx, box.cy, std::sqrt(12 * (box.along * cos + box.across * sin)),
          std::sqrt(12 * (box.along * sin + box.across * cos)), box.label};
}

SearchRadius gaussian_search_radius(double limit) noexcept {
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

namespace halyard {

float probabilistic_iou(const RotatedBox& a, const RotatedBox& b) noexcept {
  return static_cast<float>(
      decode::probabilistic_iou(decode::gaussian_of(a, 0), decode::gaussian_of(b, 0)));
}

}  // namespace halyard
