// SPDX-License-Identifier: Apache-2.0
// What one value becomes in memory: the definition that the store kernels follow.
#pragma once

#include <cstddef>

#include "image/value_map.h"

namespace halyard::image {

/// Writes `value`, a code with its fraction in [0, 255], of channel `c` as the destination stores
/// it; size_of(dtype) bytes. Float results are rounded to nearest even.
void store_value(const ValueMap& map, DType dtype, std::size_t c, float value,
                 std::byte* to) noexcept;

}  // namespace halyard::image
