// SPDX-License-Identifier: Apache-2.0
// From exact taps to the tables of the row kernels.
#pragma once

#include <cstdint>

#include "image/cpu/kernels.h"
#include "image/cpu/taps.h"

namespace halyard::image {

/// Taps of one or two samples, relative to a row that starts with sample `begin`.
void make_across(const AxisTaps& taps, std::int32_t begin, AcrossTable& out);

}  // namespace halyard::image
