// SPDX-License-Identifier: Apache-2.0
// Blending one colour through rows of on and off bytes: for each way in which bytes of pixels lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace halyard::draw {

/// A colour as bytes of an image, in the order in which they lie there (packed), in the order of
/// planes, or as Y, U, V; and its weight, 0..255.
struct Ink {
  std::array<std::uint8_t, 4> bytes{};
  std::uint8_t alpha = 0;
};

/// Rows of a mask; a byte from 128 on is on.
struct MaskRows {
  const std::uint8_t* data = nullptr;
  std::size_t stride = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

/// Where the pixel of the mask's first byte lies.
struct PixelRows {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t stride = 0;
};

/// round((c a + p (255 - a)) / 255) for every byte of a plane where the mask is on; the colour is
/// byte `channel` of the ink. Neither reads nor writes a byte outside of the rows.
void blend_plane(const MaskRows& mask, const PixelRows& pixels, const Ink& ink,
                 std::size_t channel);
/// The same for pixels of three bytes, and for the first three of four.
void blend_packed3(const MaskRows& mask, const PixelRows& pixels, const Ink& ink);
void blend_packed4(const MaskRows& mask, const PixelRows& pixels, const Ink& ink);

/// Interleaved U and V bytes of one row of 2 x 2 blocks: `upper` and `lower` are the mask's rows,
/// two bytes for each of `blocks`. Per byte, with n of four on:
/// round((c a n + p (1020 - a n)) / 1020), halves up.
void blend_chroma(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t blocks,
                  std::uint8_t* chroma, const Ink& ink);

}  // namespace halyard::draw
