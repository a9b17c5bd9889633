// SPDX-License-Identifier: Apache-2.0
// The resampling kernels as functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "halyard/image.h"

namespace halyard::image {

/// The weight of a sample whose centre is x behind the centre of the output, in samples (if
/// widened: in units of the widened size). Not normalised.
struct Kernel {
  /// A position this near to the border of a box counts as on it.
  static constexpr double tie = 1e-9;

  Filter filter;
  bool antialias;

  /// Weights are 0 at greater distances.
  double support() const {
    switch (filter) {
      case Filter::bicubic:
        return 2;
      case Filter::lanczos3:
        return 3;
      case Filter::box:
        return 0.5;
      default:
        return 1;
    }
  }
  double operator()(double x) const {
    switch (filter) {
      case Filter::bicubic:
        return cubic(std::abs(x), antialias ? -0.5 : -0.75);
      case Filter::lanczos3:
        return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
      case Filter::box:
        return x > -0.5 + tie && x <= 0.5 + tie ? 1 : 0;
      default:
        return std::max(0.0, 1 - std::abs(x));
    }
  }
  // Keys, "Cubic convolution interpolation for digital image processing", 1981.
  static double cubic(double x, double a) {
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
  }
  static double sinc(double x) {
    if (x == 0) return 1;
    const double angle = x * std::numbers::pi;
    return std::sin(angle) / angle;
  }
};

}  // namespace halyard::image
