// SPDX-License-Identifier: Apache-2.0
// Fills rectangles of pixels with one colour.
#pragma once

#include <cstddef>
#include <cstdint>

#include "draw/mask/mask_blend.h"

namespace halyard::draw {

/// Stores `color` in `width` x `height` pixels of 1, 3 or 4 bytes; the fourth byte keeps its value.
/// Neither is 0. Neither reads nor writes a byte outside the pixels.
void fill_rows(PixelRows rows, std::size_t width, std::size_t height, const std::uint8_t* color,
               std::size_t pixel_bytes) noexcept;

}  // namespace halyard::draw
