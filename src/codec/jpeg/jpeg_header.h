// SPDX-License-Identifier: Apache-2.0
// Halyard's own reader of a JPEG's markers up to the first scan. Any bytes are safe; nothing is
// decoded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "halyard/codec.h"

namespace halyard::codec {

struct JpegComponent {
  std::uint8_t id = 0;
  std::uint8_t h = 1;  ///< sampling factors 1..4
  std::uint8_t v = 1;
};

struct JpegHeader {
  ImageFileInfo info;               ///< without the orientation
  std::span<const std::byte> exif;  ///< APP1 payload with its "Exif\0\0", empty when absent
  std::array<JpegComponent, 3> components{};
  bool stored_rgb = false;     ///< the three components are R, G, B
  std::size_t data_bytes = 0;  ///< from the end of the first scan header to the end of the file
  std::size_t scan_at = 0;     ///< offset of the first scan's marker

  /// Blocks of 8 x 8 of component i, and of all components: below 3 * 2^26.
  std::size_t blocks_of(std::size_t i) const noexcept;
  std::size_t blocks() const noexcept;
};

bool is_jpeg(std::span<const std::byte> file) noexcept;

/// Errors: corrupt, unsupported, invalid_argument (limits); see peek().
Result<JpegHeader> parse_jpeg_header(std::span<const std::byte> file, const DecodeLimits& limits);

/// Checks the length: every 8 x 8 block takes at least one bit. Errors: corrupt (the file is too
/// short for its size).
Status check_jpeg_length(const JpegHeader& header);

}  // namespace halyard::codec
