// SPDX-License-Identifier: Apache-2.0
// The rows of a PNG inflated in one call, into memory of exactly the size that its header names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "codec/png/png_header.h"

namespace halyard::codec {

/// Filtered rows as the file has them, a filter byte (0 .. 4) before each.
struct InflatedRows {
  std::unique_ptr<std::uint8_t[]> bytes;  ///< png_row_slack bytes more than the rows have
  std::size_t row_bytes = 0;              ///< without the filter byte
  std::size_t pixel_bytes = 0;            ///< 1, 2, 3, 4, 6 or 8

  const std::uint8_t* row(std::size_t y) const { return bytes.get() + y * (row_bytes + 1); }
};

/// Rows whose pixels are certain: every chunk from the first IDAT on is in its place and has the
/// right checksum, the stream is whole and fills the rows exactly. Nothing for all other files
/// (interlaced, fewer than 8 bits, a transparent colour, damaged, odd), where no more than
/// `spare_bytes` of memory would do, or where memory cannot be had: libspng reads these row by row
/// and says what is wrong with them. The chunks before the data are libspng's to check.
std::optional<InflatedRows> inflate_rows(std::span<const std::byte> file, const PngHeader& header,
                                         std::size_t spare_bytes);

}  // namespace halyard::codec
