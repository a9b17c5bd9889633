// SPDX-License-Identifier: Apache-2.0
// Kernel: converts rows of YUV bytes to rows of RGB or grey codes of the same size, in one pass.
#pragma once

#include <array>
#include <cstdint>

namespace halyard::image {

/// Fixed-point coefficients; sums have 6 fractional bits.
struct YuvRgbMatrix {
  std::uint8_t y_offset = 0;
  std::uint8_t y_half = 0;       ///< in 1/256 of a luma code: it adds half a code to the result
  std::uint16_t y_scale = 0;     ///< times 2^14
  std::int16_t first = 0;        ///< from the first chroma of a pair to its colour, times 2^13
  std::int16_t second = 0;       ///< from the other chroma to the other colour, times 2^13
  std::int16_t first_green = 0;  ///< subtracted from green, times 2^13
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
  bool first_leads = false;  ///< packed: the colour of the first chroma comes before green
  bool streams = false;      ///< stores past the cache where the rows are aligned
  std::uint8_t flip = 0;     ///< grey, planes: xor of every code
  std::int32_t rows = 1;     ///< 2: with luma_and_pairs only, and not to grey
  std::int32_t width = 0;
  YuvRgbMatrix matrix;
  std::array<const std::uint8_t*, 2> luma{};  ///< of each row; luma_low, luma_high: all bytes
  const std::uint8_t* pairs = nullptr;
  /// Of each row: packed pixels and grey use [0]; planes are the colour of the first chroma, green,
  /// the colour of the other. Null for what is not used.
  std::array<std::array<std::uint8_t*, 3>, 2> out{};
};

/// Reads and writes only bytes of the rows. With `streams`, call finish_yuv_rgb_streams() at the
/// end.
void yuv_rgb_rows(const YuvRgbJob& job);
void finish_yuv_rgb_streams();

}  // namespace halyard::image
