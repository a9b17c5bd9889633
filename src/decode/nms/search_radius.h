// SPDX-License-Identifier: Apache-2.0
// How near two boxes must be to overlap enough: the search radius for the spatial index.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

Place place_of(const FlatBox& box) noexcept;

Place place_of(const Gaussian& box) noexcept;

SearchRadius reach_of(Overlap overlap, float threshold) noexcept;

/// The radius for is_nearer().
SearchRadius reach_of_gaussians(double limit) noexcept;

}  // namespace halyard::decode
