// SPDX-License-Identifier: Apache-2.0
// Kernel: samples of 16 bits to samples of 8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halyard::codec {

/// Big-endian samples v, as PNG has them, to the nearest codes round(v * 255 / 65535): the rule of
/// Processor::convert() too. `in` and `out` have png_row_slack bytes behind them; they do not
/// overlap.
void narrow_samples(const std::uint8_t* in, std::size_t samples, std::uint8_t* out) noexcept;

}  // namespace halyard::codec
