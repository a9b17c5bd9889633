// SPDX-License-Identifier: Apache-2.0
// Kernel: interleaves, deinterleaves or drops the channels of rows of bytes; values stay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::image {

/// Rows of an image. Channels are red, green, blue, alpha, in this order; [0] of packed pixels is
/// their first byte. Null for a channel that does not exist: alpha that is missing becomes 255.
struct RepackJob {
  enum class Group : std::uint8_t { planes, packed3, packed4, grey };
  Group from{};
  Group to{};               ///< not grey
  bool swaps_ends = false;  ///< swaps red and blue
  std::uint8_t flip = 0;    ///< xor of every colour byte
  std::size_t width = 0;
  std::size_t rows = 1;
  std::array<const std::uint8_t*, 4> in{};
  std::array<std::uint8_t*, 4> out{};
  std::size_t in_stride = 0;  ///< bytes from one row to the next, the same for all planes
  std::size_t out_stride = 0;
};

/// Reads and writes only bytes of the rows.
void repack_rows(const RepackJob& job);

}  // namespace halyard::image
