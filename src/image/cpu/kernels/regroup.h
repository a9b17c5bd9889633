// SPDX-License-Identifier: Apache-2.0
// Kernel: rows of pixels whose bytes stay and whose channels come together, apart, or go.
#pragma once

#include <array>
#include <cstdint>

namespace halyard::image {

/// One row. Red, green, blue, alpha in this order; packed pixels are told by their first byte at
/// [0]. Null what is not there: alpha that is missing becomes 255.
struct RegroupJob {
  enum class Group : std::uint8_t { planes, packed3, packed4, grey };
  Group from{};
  Group to{};               ///< not grey
  bool swaps_ends = false;  ///< red and blue change places
  std::uint8_t flip = 0;    ///< xor of every colour byte
  std::int32_t width = 0;
  std::array<const std::uint8_t*, 4> in{};
  std::array<std::uint8_t*, 4> out{};
};

/// Reads and writes no byte beside the row.
void regroup_row(const RegroupJob& job);

}  // namespace halyard::image
