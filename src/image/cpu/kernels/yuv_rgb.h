// SPDX-License-Identifier: Apache-2.0
// Kernel: rows of YUV bytes to rows of RGB or grey codes at the same size, in one pass.
#pragma once

#include <array>
#include <cstdint>

namespace halyard::image {

/// Fixed-point coefficients: 6 fractional bits in the sums.
struct YuvRgbMatrix {
  std::uint8_t y_offset = 0;
  std::uint8_t y_half = 0;       ///< in 1/256 of a luma code: half of the last place of a result
  std::uint16_t y_scale = 0;     ///< times 2^14
  std::int16_t first = 0;        ///< of the first chroma of a pair, times 2^13, to its colour
  std::int16_t second = 0;       ///< of the other, to the other
  std::int16_t first_green = 0;  ///< taken off green
  std::int16_t second_green = 0;
};

/// One row, or two rows that share their chroma.
struct YuvRgbJob {
  enum class Feed : std::uint8_t {
    luma_and_pairs,  ///< a row of luma and one of chroma pairs
    luma_low,        ///< luma and chroma alternate, luma first
    luma_high,       ///< chroma first
  };
  enum class Store : std::uint8_t { grey, packed3, packed4, planes };
  Feed feed{};
  Store store{};
  bool first_leads = false;  ///< packed: the colour of the first chroma lies before green
  bool streams = false;      ///< stores past the cache where rows allow it
  std::uint8_t flip = 0;     ///< grey, planes: xor of every code
  std::int32_t rows = 1;     ///< 2: luma_and_pairs only, not to grey
  std::int32_t width = 0;
  YuvRgbMatrix matrix;
  std::array<const std::uint8_t*, 2> luma{};  ///< of each row; luma_low, luma_high: the bytes
  const std::uint8_t* pairs = nullptr;
  /// Of each row: packed and grey at [0]; planes: the first chroma's colour, green, the other's.
  /// Null what is not used.
  std::array<std::array<std::uint8_t*, 3>, 2> out{};
};

/// Reads and writes no byte beside the rows. With `streams` call direct_flush() at the end.
void yuv_rgb_rows(const YuvRgbJob& job);
void direct_flush();

}  // namespace halyard::image
