// SPDX-License-Identifier: Apache-2.0
// Kernel: rows of pixels whose bytes stay and whose channels come together, apart, or go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Rows of an image. Red, green, blue, alpha in this order; packed pixels are told by their first
/// byte at [0]. Null what is not there: alpha that is missing becomes 255.
struct RepackJob {
  enum class Group : std::uint8_t { planes, packed3, packed4, grey };
  Group from{};
  Group to{};               ///< not grey
  bool swaps_ends = false;  ///< red and blue change places
  std::uint8_t flip = 0;    ///< xor of every colour byte
  std::size_t width = 0;
  std::size_t rows = 1;
  std::array<const std::uint8_t*, 4> in{};
  std::array<std::uint8_t*, 4> out{};
  std::size_t in_stride = 0;  ///< bytes from a row to the next, the same of all planes
  std::size_t out_stride = 0;
};

/// Reads and writes no byte beside the rows.
void repack_rows(const RepackJob& job);

}  // namespace halyard::image
