// SPDX-License-Identifier: Apache-2.0
// Memory for rows of a mask, with the bytes around them that Canvas writes.
#pragma once

#include <cstdint>
#include <vector>

#include "draw/canvas.h"

namespace halyard::draw {

/// Rows of the image on which all masks are drawn before the next rows, so that they stay in the
/// cache. Must be even for nv12.
inline constexpr std::size_t band_rows = 64;

/// Keeps its memory between frames.
class MaskBand {
 public:
  /// Space for `height` rows of `width` pixels, at (0, 0) of the image, valid until the next call.
  /// The bytes have any values. decode::sample_rows() may write into it.
  MaskBits rows(std::size_t width, std::size_t height);

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace halyard::draw
