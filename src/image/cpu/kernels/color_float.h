// SPDX-License-Identifier: Apache-2.0
// Colour conversion in floats, for results that are the nearest codes.
#pragma once

#include "image/cpu/kernels/color.h"

namespace halyard::image {

/// The same in single precision: what `exact` asks for, and the changes by alpha.
void change_colors_in_floats(const ColorSetup& setup, const ColorJob& job);

}  // namespace halyard::image
