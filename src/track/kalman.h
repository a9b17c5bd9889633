// SPDX-License-Identifier: Apache-2.0
// Constant-velocity Kalman filter of one box: centre, aspect and height, each with its velocity. It
// does not depend on detections or identities.
#pragma once

#include <Eigen/Core>

#include "halyard/geometry.h"

namespace halyard::track {

/// Centre x, centre y, aspect (width / height), height.
using Xyah = Eigen::Array4f;

Xyah xyah_of(const Box& box) noexcept;
Box box_of(const Xyah& xyah) noexcept;

/// A longer step is predicted as one of this length, and no state or variance grows beyond
/// `largest`, so that nothing overflows after any pause.
inline constexpr double longest_step_frames = 1e6;
inline constexpr float largest = 1e30F;

/// The textbook filter with the noise of DeepSORT and ByteTrack: F = [1 c dt; 0 1] per coordinate,
/// H = [1 0], all noise diagonal. F couples a coordinate only with its own velocity, so the 8 x 8
/// covariance consists of four 2 x 2 blocks; these are kept, four lanes wide. Time is counted in
/// frames: standard deviations are per nominal frame, process noise grows with dt. The coupling c
/// is 1 in the papers. EdgeFirst HAL uses 3, which counts velocities per third of a frame, so that
/// with the same constants objects may change their velocity three times as fast.
class BoxFilter {
 public:
  explicit BoxFilter(const Box& measured) noexcept;

  /// Predicts `dt_frames` >= 0 ahead.
  void predict(double dt_frames, float coupling) noexcept;
  /// For a lost object, whose size is assumed constant. Call before predict().
  void stop_height() noexcept { velocity[3] = 0; }
  void stop_aspect() noexcept { velocity[2] = 0; }

  /// Applies `gain` in (0, 1] of the optimal correction. The covariance is that of the gain used
  /// (Joseph form), so a small gain does not make the filter overconfident. `aspect_deviation`:
  /// standard deviation of the measured aspect.
  void correct(const Box& measured, float gain, float aspect_deviation) noexcept;

  /// Squared Mahalanobis distance between a measurement and the expected one, d' S^-1 d; chi-square
  /// with four degrees of freedom for the object's own measurement. Units as in correct().
  float distance(const Box& measured, float aspect_deviation) const noexcept;

  Box box() const noexcept { return box_of(mean); }

  Xyah mean;      ///< position
  Xyah velocity;  ///< per nominal frame / coupling
  /// Variances of position and velocity, and their covariance.
  Eigen::Array4f position_variance, velocity_variance, covariance;
};

}  // namespace halyard::track
