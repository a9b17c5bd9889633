// SPDX-License-Identifier: Apache-2.0
// Defines how one value is stored in memory; the store kernels give the same bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "image/value_map.h"

namespace halyard::image {

/// The half that is nearest to `value`, ties to even, subnormals included; infinity from 65520 on.
std::uint16_t f16_bits(float value) noexcept;

/// Writes `value`, a code with a fraction in [0, 255], of channel `c` as the destination stores it;
/// size_of(dtype) bytes. Float results are rounded to nearest even.
void store_value(const ValueMap& map, DType dtype, std::size_t c, float value,
                 std::byte* to) noexcept;

}  // namespace halyard::image
