// SPDX-License-Identifier: Apache-2.0
// SORT's Kalman filter of one box: centre, area and aspect. All but the aspect have a velocity.
#pragma once

#include <Eigen/Core>

#include "halyard/geometry.h"

namespace halyard::track {

/// Centre x, centre y, area, aspect (width / height).
using Xysr = Eigen::Array4f;

Xysr xysr_of(const Box& box) noexcept;
Box box_of_area(const Xysr& xysr) noexcept;

/// Bewley's 7-state filter with his constants: P0 = diag(10, 10, 10, 10, 1e4, 1e4, 1e4), Q =
/// diag(1, 1, 1, 1, 1e-2, 1e-2, 1e-4) per nominal frame, R = diag(1, 1, 10, 10). The gain depends
/// only on these and the steps, so the unit of boxes does not matter. Kept as 2 x 2 blocks like
/// BoxFilter; the aspect's velocity stays 0.
class AreaFilter {
 public:
  explicit AreaFilter(const Box& measured) noexcept;

  /// Predicts `dt_frames` >= 0 ahead. If the area would become 0 or less, its velocity is set to 0.
  void predict(double dt_frames) noexcept;
  void correct(const Box& measured) noexcept;

  Box box() const noexcept { return box_of_area(mean); }

  Xysr mean;
  Xysr velocity;  ///< per nominal frame
  Eigen::Array4f position_variance, velocity_variance, covariance;
};

}  // namespace halyard::track
