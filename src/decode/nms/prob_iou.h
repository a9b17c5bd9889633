// SPDX-License-Identifier: Apache-2.0
// Turned boxes as Gaussians: what probabilistic IoU compares.
#pragma once

#include <cstdint>

#include "halyard/detection.h"

namespace halyard::decode {

/// Centre of a box of even density, and its variances along and across its direction. `along` 0: it
/// overlaps nothing.
struct Gaussian {
  double cx = 0;
  double cy = 0;
  double along = 0;
  double across = 0;
  double cos = 1;
  double sin = 0;
  std::int32_t label = 0;
  bool is_empty() const noexcept { return !(along > 0); }
};

/// Empty where an extent is not above 0 or anything is not finite.
Gaussian gaussian_of(const RotatedBox& box, std::int32_t label) noexcept;

/// 1 - Hellinger distance, in [0, 1]; 0 where either is empty.
double probabilistic_iou(const Gaussian& a, const Gaussian& b) noexcept;

/// The Bhattacharyya distance below which probabilistic_iou is above the threshold, in [0, 1].
double distance_limit(float threshold) noexcept;
/// Whether that distance of the two, of one label and not empty, is below `limit`.
bool is_nearer(const Gaussian& a, const Gaussian& b, double limit) noexcept;

}  // namespace halyard::decode
