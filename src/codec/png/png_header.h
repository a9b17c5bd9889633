// SPDX-License-Identifier: Apache-2.0
// Reads the chunks of a PNG: size, kind, transparency and EXIF. Nothing is inflated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "halyard/codec.h"

namespace halyard::codec {

inline constexpr std::array<std::uint8_t, 8> png_signature = {0x89, 'P',  'N',  'G',
                                                              '\r', '\n', 0x1A, '\n'};
inline constexpr std::size_t png_ihdr_bytes = 13;
inline constexpr std::size_t png_frame_bytes = 12;  ///< length, type and CRC around the content

struct PngHeader {
  ImageFileInfo info;               ///< without the orientation
  std::span<const std::byte> exif;  ///< content of the eXIf chunk, empty when absent
  std::uint8_t color_type = 0;      ///< 0 grey, 2 rgb, 3 palette, 4 grey and alpha, 6 rgba
  bool has_transparency = false;    ///< a tRNS chunk
  bool interlaced = false;
  bool has_end = false;     ///< every chunk up to IEND is complete
  std::size_t data_at = 0;  ///< offset of the first complete IDAT chunk

  std::size_t samples_per_pixel() const noexcept;  ///< as stored; 1 for a palette's index
};

struct PngChunk {
  std::string_view type;  ///< empty: the file ends, or is cut, before the chunk does
  std::span<const std::byte> content;
};

/// The chunk at `at` (at most the file's size); moves `at` to its end.
PngChunk next_png_chunk(std::span<const std::byte> file, std::size_t& at) noexcept;

bool is_png(std::span<const std::byte> file) noexcept;

/// Errors: corrupt, invalid_argument (limits); see peek().
Result<PngHeader> parse_png_header(std::span<const std::byte> file, const DecodeLimits& limits);

/// Checks that the file is complete and long enough: deflate packs 1032 to 1 at best.
/// Errors: corrupt (the file ends early, or is too short for its size).
Status check_png_length(const PngHeader& header, std::size_t file_bytes);

}  // namespace halyard::codec
