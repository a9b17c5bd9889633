// SPDX-License-Identifier: Apache-2.0
// Constant-velocity Kalman filter of one box: centre, aspect and height, each with its velocity.
// Knows neither detections nor identities.
#pragma once

#include <Eigen/Core>

#include "halyard/geometry.h"

namespace halyard::track {

/// Centre x, centre y, aspect (width / height), height.
using Xyah = Eigen::Array4f;

Xyah xyah_of(const Box& box) noexcept;
Box box_of(const Xyah& xyah) noexcept;

/// A step longer than this is predicted as this long, and no state or variance grows beyond this,
/// so that nothing overflows however long nobody looks.
inline constexpr double longest_step_frames = 1e6;
inline constexpr float largest = 1e30F;

/// The textbook filter with the noise of DeepSORT and ByteTrack: F = [1 c dt; 0 1] per coordinate,
/// H = [1 0], all noise diagonal. Because F couples a coordinate with its own velocity only, the
/// 8 x 8 covariance is four 2 x 2 blocks, and those are what is kept, four lanes wide. Time is
/// counted in frames: standard deviations are those of one nominal frame, process noise grows with
/// dt. The coupling c is 1 in the papers; 3, EdgeFirst HAL's, counts velocities per third of a
/// frame, so that the same figures let objects change their velocity three times as fast.
class BoxFilter {
 public:
  explicit BoxFilter(const Box& measured) noexcept;

  /// Moves on by `dt_frames` >= 0.
  void predict(double dt_frames, float coupling) noexcept;
  /// Of an object out of sight, whose size is not believed to change; before predict().
  void stop_height() noexcept { velocity[3] = 0; }
  void stop_aspect() noexcept { velocity[2] = 0; }

  /// Takes over `gain` in (0, 1] of the optimal correction; the covariance is that of the gain used
  /// (Joseph form), so a small gain does not make the filter overconfident. `aspect_deviation`: the
  /// measurement's, of the aspect.
  void correct(const Box& measured, float gain, float aspect_deviation) noexcept;

  /// Squared Mahalanobis distance of a measurement from the one expected, d' S^-1 d; chi-square
  /// with four degrees of freedom for the object's own. Units as correct().
  float distance(const Box& measured, float aspect_deviation) const noexcept;

  Box box() const noexcept { return box_of(mean); }

  Xyah mean;      ///< position
  Xyah velocity;  ///< per nominal frame / coupling
  /// Variances of position and velocity, and their covariance.
  Eigen::Array4f position_variance, velocity_variance, covariance;
};

}  // namespace halyard::track
