// SPDX-License-Identifier: Apache-2.0
// SORT's Kalman filter.
#include "track/area_filter.h"

#include <algorithm>
#include <cmath>

#include "track/kalman.h"

namespace halyard::track {
namespace {

constexpr float min_area = 1e-20F;  // below the area of the smallest box that is accepted

}  // namespace

Xysr xysr_of(const Box& box) noexcept {
  const float width = box.x2 - box.x1;
  const float height = box.y2 - box.y1;
  return {(box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2, width * height, width / height};
}

Box box_of_area(const Xysr& s) noexcept {
  const float width = std::sqrt(s[2] * s[3]);
  const float height = s[2] / width;
  return {s[0] - width / 2, s[1] - height / 2, s[0] + width / 2, s[1] + height / 2};
}

AreaFilter::AreaFilter(const Box& measured) noexcept
    : mean(xysr_of(measured)),
      velocity(Xysr::Zero()),
      position_variance(10, 10, 10, 10),
      velocity_variance(1e4F, 1e4F, 1e4F, 0),
      covariance(Eigen::Array4f::Zero()) {}

void AreaFilter::predict(double dt_frames) noexcept {
  const auto dt = static_cast<float>(std::min(dt_frames, longest_step_frames));
  const Eigen::Array4f process(1, 1, 1, 1);
  const Eigen::Array4f process_velocity(1e-2F, 1e-2F, 1e-4F, 0);
  if (mean[2] + dt * velocity[2] <= 0) velocity[2] = 0;
  mean = (mean + dt * velocity).max(-largest).min(largest);
  mean[2] = std::max(mean[2], min_area);
  position_variance += 2 * dt * covariance + dt * dt * velocity_variance + dt * process;
  position_variance = position_variance.min(largest);
  covariance = (covariance + dt * velocity_variance).min(largest);
  velocity_variance = (velocity_variance + dt * process_velocity).min(largest);
}

void AreaFilter::correct(const Box& measured) noexcept {
  const Eigen::Array4f noise(1, 1, 10, 10);
  const Xysr innovation = xysr_of(measured) - mean;
  const Eigen::Array4f expected = position_variance + noise;
  const Eigen::Array4f k = position_variance / expected;
  const Eigen::Array4f kv = covariance / expected;
  const Xysr before = mean;
  mean += k * innovation;
  // Exactly, both stay positive, as combinations of positive values. Rounding could still make them
  // 0.
  mean[2] = std::max(mean[2], before[2] / 16);
  mean[3] = std::max(mean[3], before[3] / 16);
  velocity += kv * innovation;
  velocity_variance = (velocity_variance + kv * kv * expected - 2 * kv * covariance).max(0);
  covariance += k * kv * expected - k * covariance - kv * position_variance;
  position_variance = (1 - k).square() * position_variance + k.square() * noise;
}

}  // namespace halyard::track
