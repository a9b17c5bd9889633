// SPDX-License-Identifier: Apache-2.0
// The headers of a BMP. Halyard has its own reader: the samples are stored unpacked, so there is
// little to read. Debian's only library for it (libnsbmp) bounds nothing, widens every image to
// RGBA and cannot write.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/formats/file_format.h"

namespace halyard::codec {

inline constexpr std::size_t bmp_file_header_bytes = 14;
inline constexpr std::uint32_t bmp_info_bytes = 40;

enum class BmpPacking : std::uint8_t { none, rle8, rle4, masks };

struct BmpHeader {
  std::size_t width = 0;
  std::size_t height = 0;
  unsigned bits = 0;  ///< bits of a pixel: 1, 4, 8, 16, 24, 32
  BmpPacking packing = BmpPacking::none;
  bool is_top_down = false;
  std::array<std::uint32_t, 4> masks{};  ///< red, green, blue, alpha; for 16 and 32 bits
  std::vector<std::array<std::uint8_t, 4>> palette;  ///< r, g, b, 255; for up to 8 bits
  std::size_t data_at = 0;

  bool is_grey() const;  ///< whether every colour of the palette is grey
  bool has_alpha() const noexcept { return masks[3] != 0; }
  std::size_t row_bytes() const noexcept { return (width * bits + 31) / 32 * 4; }
};

/// Errors: corrupt, unsupported (JPEG or PNG inside, CMYK, other depths), invalid_argument
/// (limits).
Result<BmpHeader> parse_bmp_header(std::span<const std::byte> file, const DecodeLimits& limits);

}  // namespace halyard::codec
