// SPDX-License-Identifier: Apache-2.0
// Fills memory with a pattern, compiled for every instruction set and chosen at run time.
#pragma once

#include <cstddef>

namespace halyard::image {

/// A multiple of periods of 1, 2, 3, 4, 6, 8, 12 or 16 bytes. Three vectors of any width hold whole
/// periods too.
inline constexpr std::size_t pattern_bytes = 192;

/// Fills `bytes` bytes at `to` with repetitions of the `pattern_bytes` bytes of `pattern`.
void fill_pattern(const std::byte* pattern, std::byte* to, std::size_t bytes);

}  // namespace halyard::image
