// SPDX-License-Identifier: Apache-2.0
// Numbers of any type as bytes of the same order: scores, heat maps and depths to look at.
#pragma once

#include <cstddef>
#include <cstdint>

#include "halyard/export.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Writes a byte for each element, in C order. Where one number is above another, its byte is not
/// below the other's. Integers of 8, 16 and 32 bits keep their highest 8 bits, counted from the
/// lowest value of the type. f16, f32 and f64 are stretched: the lowest finite number is 0, the
/// highest is 255, infinities are the nearest of these; NaN is 0, as are equal numbers. `source` is
/// the address of the first element; any strides. Thread-safe. Errors: unsupported (other types).
Status byte_levels(const Layout& from, const std::byte* source, std::uint8_t* out);

}  // namespace halyard
HALYARD_EXPORTS_END
