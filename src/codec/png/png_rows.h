// SPDX-License-Identifier: Apache-2.0
// Rows of a PNG on their way: from the file's samples to channels, from channels to the elements of
// the destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::codec {

/// Channels of 8 bits, or of 16 in host order.
struct RowJob {
  const std::byte* in;
  std::byte* out;
  std::size_t width;
  std::size_t in_channels;
  PixelFormat format;  ///< of `out`
};
using RowConverter = void (*)(const RowJob&);

/// Stores channels as `dtype` in the order of the format, colours as luma where it is grey.
RowConverter row_converter(bool is_wide, DType dtype) noexcept;

void swap_red_and_blue(std::byte* row, std::size_t width) noexcept;

using PngPalette = std::array<std::array<std::uint8_t, 4>, 256>;  ///< r, g, b, alpha

/// Samples as the file has them, unfiltered, to channels.
struct SpreadJob {
  const std::uint8_t* in;
  std::byte* out;
  std::size_t width;
  const PngPalette* palette;  ///< of palette images
};
using RowSpreader = void (*)(const SpreadJob&);

/// For samples of 8 bits, or of 16 (big-endian to host order). Grey fills red, green and blue, an
/// alpha that the file lacks is opaque, one that is not wanted is dropped. Null where the channels
/// cannot be had: 1 or 2 are those of the file.
RowSpreader row_spreader(unsigned color_type, bool is_wide, std::size_t channels) noexcept;

}  // namespace halyard::codec
