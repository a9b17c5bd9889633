// SPDX-License-Identifier: Apache-2.0
// Colour changes in single precision.
#pragma once

#include "image/cpu/kernels/color/color.h"

namespace halyard::image {

/// Like change_colors(), in single precision: for `exact` setups and for changes by alpha. Codes
/// are the nearest ones.
void change_colors_in_floats(const ColorSetup& setup, const ColorJob& job);

}  // namespace halyard::image
