// SPDX-License-Identifier: Apache-2.0
// Kalman filter of one box.
#include "track/kalman.h"

#include <algorithm>

namespace halyard::track {
namespace {

// Standard deviations as shares of the height; those of the aspect are absolute.
constexpr float position_share = 1.0F / 20;
constexpr float velocity_share = 1.0F / 160;
constexpr float process_aspect_deviation = 1e-2F;
constexpr float aspect_velocity_deviation = 1e-5F;

Eigen::Array4f variance(float share, float aspect, float height) noexcept {
  const float extent = share * height;
  return Eigen::Array4f(extent, extent, aspect, extent).square();
}

}  // namespace

Xyah xyah_of(const Box& box) noexcept {
  const float width = box.x2 - box.x1;
  const float height = box.y2 - box.y1;
  return {(box.x1 + box.x2) / 2, (box.y1 + box.y2) / 2, width / height, height};
}

Box box_of(const Xyah& s) noexcept {
  const float half_width = s[2] * s[3] / 2;
  const float half_height = s[3] / 2;
  return {s[0] - half_width, s[1] - half_height, s[0] + half_width, s[1] + half_height};
}

BoxFilter::BoxFilter(const Box& measured) noexcept
    : mean(xyah_of(measured)),
      velocity(Xyah::Zero()),
      position_variance(variance(2 * position_share, process_aspect_deviation, mean[3])),
      velocity_variance(variance(10 * velocity_share, aspect_velocity_deviation, mean[3])),
      covariance(Eigen::Array4f::Zero()) {}

void BoxFilter::predict(double dt_frames, float coupling) noexcept {
  const auto dt = static_cast<float>(std::min(dt_frames, longest_step_frames));
  const float f = coupling * dt;
  const float aspect = mean[2];
  const float height = mean[3];
  const Eigen::Array4f process = dt * variance(position_share, process_aspect_deviation, height);
  const Eigen::Array4f process_velocity =
      dt * variance(velocity_share, aspect_velocity_deviation, height);
  position_variance += 2 * f * covariance + f * f * velocity_variance + process;
  position_variance = position_variance.min(largest);
  covariance = (covariance + f * velocity_variance).min(largest);
  velocity_variance = (velocity_variance + process_velocity).min(largest);
  mean = (mean + f * velocity).max(-largest).min(largest);
  // A shrinking box keeps a positive size, however long the step.
  mean[2] = std::max(mean[2], aspect / 4);
  mean[3] = std::max(mean[3], height / 4);
}

void BoxFilter::correct(const Box& measured, float gain, float measured_aspect) noexcept {
  const Xyah innovation = xyah_of(measured) - mean;
  const Eigen::Array4f noise = variance(position_share, measured_aspect, mean[3]);
  const Eigen::Array4f expected = position_variance + noise;
  const Eigen::Array4f k = gain * position_variance / expected;
  const Eigen::Array4f kv = gain * covariance / expected;
  const float aspect = mean[2];
  const float height = mean[3];
  mean += k * innovation;
  mean[2] = std::max(mean[2], aspect / 4);
  mean[3] = std::max(mean[3], height / 4);
  velocity += kv * innovation;
  // (I - KH) P (I - KH)' + K R K', one block per coordinate.
  velocity_variance = (velocity_variance + kv * kv * expected - 2 * kv * covariance).max(0);
  covariance += k * kv * expected - k * covariance - kv * position_variance;
  position_variance = (1 - k).square() * position_variance + k.square() * noise;
}

float BoxFilter::distance(const Box& measured, float measured_aspect) const noexcept {
  const Xyah innovation = xyah_of(measured) - mean;
  return (innovation.square() /
          (position_variance + variance(position_share, measured_aspect, mean[3])))
      .sum();
}

}  // namespace halyard::track
