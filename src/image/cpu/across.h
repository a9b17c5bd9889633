// SPDX-License-Identifier: Apache-2.0
// From exact taps to the tables of the kernels that resample rows.
#pragma once

#include <cstdint>

#include "image/cpu/kernels/across.h"
#include "image/cpu/taps.h"

namespace halyard::image {

/// Taps along a row of `samples` that starts with sample `begin`. More than `few` taps have fine
/// weights. `of_bytes`: whether the samples may lie byte by byte, too.
AcrossTable make_across(const AxisTaps& taps, std::int32_t begin, std::int32_t samples,
                        std::int32_t few, bool of_bytes = true);

}  // namespace halyard::image
