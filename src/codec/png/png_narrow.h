// SPDX-License-Identifier: Apache-2.0
// Kernel: 16-bit samples to 8-bit samples.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::codec {

/// Converts big-endian samples v, as PNG has them, to the nearest codes round(v * 255 / 65535).
/// This is the rule of Processor::convert() too. `in` and `out` have png_row_slack bytes after
/// them; they do not overlap.
void narrow_samples(const std::uint8_t* in, std::size_t samples, std::uint8_t* out) noexcept;

}  // namespace halyard::codec
