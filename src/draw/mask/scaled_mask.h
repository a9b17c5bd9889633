// SPDX-License-Identifier: Apache-2.0
// Draws a mask of bytes over a box of an image, enlarged or reduced bilinearly.
#pragma once

#include <cstdint>
#include <vector>

#include "draw/mask/mask_band.h"
#include "halyard/geometry.h"

namespace halyard::draw {

/// Borrowed bytes without gaps between the rows.
struct ByteMask {
  const std::uint8_t* data = nullptr;
  std::size_t width = 0;
  std::size_t height = 0;
};

/// Keeps its tables between calls. One thread at a time.
class ScaledMask {
 public:
  /// A pixel is on if the mask, sampled bilinearly at the pixel's centre and clamped to the centres
  /// of the mask's border pixels, is at least 127.5. `box` is in pixels of the image; an empty box,
  /// or one that is not finite, draws nothing.
  void blend(const ByteMask& mask, const Box& box, const Canvas& canvas, const Ink& ink);

 private:
  std::vector<std::int32_t> cells_;  ///< [j]: first image column whose sample position is j or more
  std::vector<float> row_;
  MaskBand band_;
};

}  // namespace halyard::draw
