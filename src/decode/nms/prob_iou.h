// SPDX-License-Identifier: Apache-2.0
// Rotated boxes as Gaussians, which probabilistic IoU compares.
#pragma once

#include <cstdint>

#include "decode/nms/spatial_index.h"
#include "halyard/detection.h"

namespace halyard::decode {

/// A rotated box with even density: its centre, and the variances along and across its direction.
/// `along` 0: it overlaps nothing.
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

/// Empty if width or height is not above 0, or if a value is not finite.
Gaussian gaussian_of(const RotatedBox& box, std::int32_t label) noexcept;

/// 1 - Hellinger distance, in [0, 1]. 0 if one of them is empty.
double probabilistic_iou(const Gaussian& a, const Gaussian& b) noexcept;

/// The Bhattacharyya distance below which probabilistic_iou is above `threshold`, which is in [0,
/// 1].
double distance_limit(float threshold) noexcept;
/// Whether that distance is below `limit`. False for different labels; neither may be empty.
bool is_nearer(const Gaussian& a, const Gaussian& b, double limit) noexcept;

/// What the spatial index knows of a box.
Place place_of(const Gaussian& box) noexcept;

/// How far from a box another one can lie for which is_nearer() is true.
SearchRadius gaussian_search_radius(double limit) noexcept;

}  // namespace halyard::decode
