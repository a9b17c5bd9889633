// SPDX-License-Identifier: Apache-2.0
// Inflates the rows of a PNG in one call, into memory of exactly the size that its header implies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "codec/png/png_header.h"

namespace halyard::codec {

/// Filtered rows as in the file, each after its filter byte (0 .. 4).
struct InflatedRows {
  std::unique_ptr<std::uint8_t[]> bytes;  ///< the rows and png_row_slack bytes after them
  std::size_t row_bytes = 0;              ///< without the filter byte
  std::size_t pixel_bytes = 0;            ///< 1, 2, 3, 4, 6 or 8

  const std::uint8_t* row(std::size_t y) const { return bytes.get() + y * (row_bytes + 1); }
};

/// The rows, if they are certain to be right: every chunk from the first IDAT on is in its place
/// and has the right checksum, and the stream is complete and fills the rows exactly. Returns
/// nullopt for all other files (interlaced, fewer than 8 bits, a transparent colour, damaged,
/// unusual), where `spare_bytes` of memory are not enough, or where memory cannot be allocated.
/// libspng then reads the file row by row and reports its errors. libspng also checks the chunks
/// before the data.
std::optional<InflatedRows> inflate_rows(std::span<const std::byte> file, const PngHeader& header,
                                         std::size_t spare_bytes);

}  // namespace halyard::codec
