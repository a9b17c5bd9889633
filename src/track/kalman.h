// SPDX-License-Identifier: Apache-2.0
// Constant-velocity Kalman filter of one box: centre, aspect and height, each with its velocity.
// Knows neither detections nor identities.
#pragma once

#include <Eigen/Core>

#include "halyard/geometry.h"

namespace halyard::track {

/// Centre x, centre y, aspect (width / height), height.
using Xyah = Eigen::Array4d;

Xyah xyah_of(const Box& box) noexcept;
Box box_of(const Xyah& xyah) noexcept;

/// The textbook filter with the noise of DeepSORT and ByteTrack: F = [1 dt; 0 1] per coordinate,
/// H = [1 0], all noise diagonal. Because F couples a coordinate with its own velocity only, the
/// 8 x 8 covariance is four 2 x 2 blocks, and those are what is kept, in double. Time is counted in
/// frames: standard deviations are those of one nominal frame, process noise grows with dt.
class BoxFilter {
 public:
  explicit BoxFilter(const Box& measured) noexcept;

  /// Moves on by `dt_frames` >= 0. `hold_size`: aspect and height stay (an object out of sight).
  void predict(double dt_frames, bool hold_size) noexcept;

  /// Takes over `gain` in (0, 1] of the optimal correction; the covariance is that of the gain used
  /// (Joseph form), so a small gain does not make the filter overconfident.
  void correct(const Box& measured, double gain) noexcept;

  Box box() const noexcept { return box_of(mean); }

  Xyah mean;      ///< position
  Xyah velocity;  ///< per nominal frame
  /// Variances of position and velocity, and their covariance.
  Eigen::Array4d position_variance, velocity_variance, covariance;
};

}  // namespace halyard::track
