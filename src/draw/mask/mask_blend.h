// SPDX-License-Identifier: Apache-2.0
// Blends one colour through rows of mask bytes (on or off), for each layout of pixel bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::draw {

/// A colour as bytes of an image: in the order of a packed pixel, in the order of planes, or as Y,
/// U, V; and its weight, 0..255.
struct Ink {
  std::array<std::uint8_t, 4> bytes{};
  std::uint8_t alpha = 0;
};

/// Rows of a mask; a byte of at least 128 is on.
struct MaskRows {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

/// Address of the pixel under the mask's first byte, and the stride of the pixels.
struct PixelRows {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// Sets every byte of a plane where the mask is on to round((c a + p (255 - a)) / 255). The colour
/// c is byte `channel` of the ink. Neither reads nor writes a byte outside the rows.
void blend_plane(const MaskRows& mask, const PixelRows& pixels, const Ink& ink,
                 std::size_t channel);
/// As above for pixels of three bytes, and for the first three bytes of four.
void blend_packed3(const MaskRows& mask, const PixelRows& pixels, const Ink& ink);
void blend_packed4(const MaskRows& mask, const PixelRows& pixels, const Ink& ink);

/// Blends interleaved U and V bytes of one row of 2 x 2 blocks. `upper` and `lower` are the mask's
/// rows, two bytes for each of `blocks`. Per byte, with n of four pixels on: round((c a n + p (1020
/// - a n)) / 1020), halves up.
void blend_chroma(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t blocks,
                  std::uint8_t* chroma, const Ink& ink);

}  // namespace halyard::draw
