// SPDX-License-Identifier: Apache-2.0
// The part of a shader that maps outputs back by an affine map and filters the source there.
#pragma once

#include <cstddef>
#include <string>

#include "image/plan.h"

namespace halyard::image {

/// Place, place_at(): where an output is in the source; is_shown(): whether that is in the crop.
/// May throw std::bad_alloc, as below.
std::string affine_text();

/// filter0() and filter1(): the filtered samples at a place.
std::string affine_filter_text(const Plan& plan, std::size_t group);

}  // namespace halyard::image
