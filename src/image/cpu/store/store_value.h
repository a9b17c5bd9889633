// SPDX-License-Identifier: Apache-2.0
// Defines how one value is stored in memory; the store kernels give the same bits.
#pragma once

#include <cstddef>

#include "image/value_map.h"

namespace halyard::image {

/// Writes `value`, a code with a fraction in [0, 255], of channel `c` as the destination stores it;
/// size_of(dtype) bytes. Float results are rounded to nearest even.
void store_value(const ValueMap& map, DType dtype, std::size_t c, float value,
                 std::byte* to) noexcept;

}  // namespace halyard::image
