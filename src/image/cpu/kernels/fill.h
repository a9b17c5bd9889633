// SPDX-License-Identifier: Apache-2.0
// Fills memory with a pattern, compiled for every instruction set and chosen at run time.
#pragma once

#include <cstddef>

namespace halyard::image {

/// Periods of 1, 2, 3, 4, 6, 8, 12 or 16 bytes fill it a whole number of times, and three vectors
/// of any width are whole periods.
inline constexpr std::size_t pattern_bytes = 192;

/// Repeats the `pattern_bytes` of `pattern` over `bytes` bytes.
void fill_pattern(const std::byte* pattern, std::byte* to, std::size_t bytes);

}  // namespace halyard::image
