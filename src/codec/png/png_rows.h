// SPDX-License-Identifier: Apache-2.0
// Row conversions of a PNG: from the file's samples to channels, and from channels to the elements
// of the destination.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "halyard/format.h"

namespace halyard::codec {

/// One row of channels of 8 bits, or of 16 bits in host order.
struct RowJob {
  const std::byte* in;
  std::byte* out;
  std::size_t width;
  std::size_t in_channels;
  PixelFormat format;  ///< of `out`
};
using RowConverter = void (*)(const RowJob&);

/// Stores channels as `dtype` in the channel order of the format; for grey, colours become luma.
RowConverter row_converter(bool is_wide, DType dtype) noexcept;

void swap_red_and_blue(std::byte* row, std::size_t width) noexcept;

using PngPalette = std::array<std::array<std::uint8_t, 4>, 256>;  ///< r, g, b, alpha

/// One row of unfiltered samples, as the file has them, that become channels.
struct SpreadJob {
  const std::uint8_t* in;
  std::byte* out;
  std::size_t width;
  const PngPalette* palette;  ///< used by palette images only
};
using RowSpreader = void (*)(const SpreadJob&);

/// Converts samples of 8 bits, or of 16 bits from big-endian to host order. Grey fills red, green
/// and blue; a missing alpha is opaque; an unwanted alpha is dropped. Null if the file cannot give
/// these channels: 1 or 2 channels must be the file's own.
RowSpreader row_spreader(unsigned color_type, bool is_wide, std::size_t channels) noexcept;

}  // namespace halyard::codec
