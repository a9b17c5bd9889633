// SPDX-License-Identifier: Apache-2.0
// Probabilistic IoU. The determinant of a box's covariance does not depend on its angle, so it is
// taken from the extents; that of a sum of two is at least 4 sqrt(d1 d2), which heals cancellation.
#include "decode/rotated.h"

#include <algorithm>
#include <cmath>

#include "base/elementary.h"
#include "halyard/selection.h"

namespace halyard::decode {
namespace {

// Determinant of the sum of the two covariances.
double joint_determinant(const Gaussian& a, const Gaussian& b, double geometric) noexcept {
  const double xy = a.xy + b.xy;
  return std::max((a.xx + b.xx) * (a.yy + b.yy) - xy * xy, geometric);
}

// The part of the Bhattacharyya distance that the centres make.
double centre_distance(const Gaussian& a, const Gaussian& b, double joint) noexcept {
  const double dx = a.cx - b.cx;
  const double dy = a.cy - b.cy;
  const double square =
      (a.xx + b.xx) * (dy * dy) + (a.yy + b.yy) * (dx * dx) - 2 * (a.xy + b.xy) * (dx * dy);
  return std::max(0.25 * square / joint, 0.0);
}

// 4 sqrt(d1 d2), without leaving the range of doubles.
double geometric_determinant(const Gaussian& a, const Gaussian& b) noexcept {
  return 4 * (std::sqrt(a.determinant) * std::sqrt(b.determinant));
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
  out.cx = box.cx;
  out.cy = box.cy;
  out.xx = w * (cos * cos) + h * (sin * sin);
  out.yy = w * (sin * sin) + h * (cos * cos);
  out.xy = (w - h) * (cos * sin);
  out.determinant = w * h;
  return out;
}

double probabilistic_iou(const Gaussian& a, const Gaussian& b) noexcept {
  if (!(a.determinant > 0 && b.determinant > 0)) return 0;
  const double geometric = geometric_determinant(a, b);
  const double joint = joint_determinant(a, b, geometric);
  const double distance = centre_distance(a, b, joint) + 0.5 * log_of(joint / geometric);
  return 1 - std::sqrt(1 - exp_of(-distance));
}

double distance_limit(float threshold) noexcept {
  // 1 - sqrt(1 - exp(-d)) > t. Beyond 36 the left side is 0 in double precision.
  const double t = threshold;
  return std::min(-log_of(t * (2 - t)), 36.0);
}

bool is_nearer(const Gaussian& a, const Gaussian& b, double limit) noexcept {
  if (a.label != b.label) return false;
  const double geometric = geometric_determinant(a, b);
  const double joint = joint_determinant(a, b, geometric);
  const double rest = limit - centre_distance(a, b, joint);
  return rest > 0 && 0.5 * log_of(joint / geometric) < rest;
}

}  // namespace halyard::decode

namespace halyard {

float probabilistic_iou(const RotatedBox& a, const RotatedBox& b) noexcept {
  return static_cast<float>(
      decode::probabilistic_iou(decode::gaussian_of(a, 0), decode::gaussian_of(b, 0)));
}

}  // namespace halyard
