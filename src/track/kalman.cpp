// SPDX-License-Identifier: Apache-2.0
// Kalman filter of one box.
#include "track/kalman.h"

#include <algorithm>

namespace halyard::track {
namespace {

// Standard deviations as shares of the height; the aspect has absolute ones.
constexpr double position_share = 1.0 / 20;
constexpr double velocity_share = 1.0 / 160;
constexpr double aspect_deviation = 1e-2;
constexpr double aspect_velocity_deviation = 1e-5;

Eigen::Array4d variance(double share, double aspect, double height) noexcept {
  const double extent = share * height;
  return Eigen::Array4d(extent, extent, aspect, extent).square();
}

}  // namespace

Xyah xyah_of(const Box& box) noexcept {
  const double width = static_cast<double>(box.x2) - box.x1;
  const double height = static_cast<double>(box.y2) - box.y1;
  return {(static_cast<double>(box.x1) + box.x2) / 2, (static_cast<double>(box.y1) + box.y2) / 2,
          width / height, height};
}

Box box_of(const Xyah& s) noexcept {
  const double half_width = s[2] * s[3] / 2;
  const double half_height = s[3] / 2;
  return {static_cast<float>(s[0] - half_width), static_cast<float>(s[1] - half_height),
          static_cast<float>(s[0] + half_width), static_cast<float>(s[1] + half_height)};
}

BoxFilter::BoxFilter(const Box& measured) noexcept
    : mean(xyah_of(measured)),
      velocity(Xyah::Zero()),
      position_variance(variance(2 * position_share, aspect_deviation, mean[3])),
      velocity_variance(variance(10 * velocity_share, aspect_velocity_deviation, mean[3])),
      covariance(Eigen::Array4d::Zero()) {}

void BoxFilter::predict(double dt, bool hold_size) noexcept {
  const Eigen::Array4d process = variance(position_share, aspect_deviation, mean[3]) * dt;
  const Eigen::Array4d process_velocity =
      variance(velocity_share, aspect_velocity_deviation, mean[3]) * dt;
  if (hold_size) velocity.tail<2>() = 0;
  const double aspect = mean[2];
  const double height = mean[3];
  mean += dt * velocity;
  // A shrinking box never turns inside out, however long the step.
  mean[2] = std::max(mean[2], aspect / 4);
  mean[3] = std::max(mean[3], height / 4);
  position_variance += 2 * dt * covariance + dt * dt * velocity_variance + process;
  covariance += dt * velocity_variance;
  velocity_variance += process_velocity;
}

void BoxFilter::correct(const Box& measured, double gain) noexcept {
  const Xyah innovation = xyah_of(measured) - mean;
  const Eigen::Array4d noise = variance(position_share, aspect_deviation, mean[3]);
  const Eigen::Array4d expected = position_variance + noise;
  const Eigen::Array4d k = gain * position_variance / expected;
  const Eigen::Array4d kv = gain * covariance / expected;
  mean += k * innovation;
  velocity += kv * innovation;
  // (I - KH) P (I - KH)' + K R K', one block per coordinate.
  velocity_variance += kv * kv * expected - 2 * kv * covariance;
  covariance += k * kv * expected - k * covariance - kv * position_variance;
  position_variance = (1 - k).square() * position_variance + k.square() * noise;
}

}  // namespace halyard::track
