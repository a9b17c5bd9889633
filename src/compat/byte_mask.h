// SPDX-License-Identifier: Apache-2.0
// Blends a mask of bytes over a box of an image, enlarged bilinearly.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compat/target.h"
#include "halyard/compat/decode.h"

namespace halyard::compat {

/// Keeps its tables between calls. One thread at a time.
class ByteMask {
 public:
  /// A pixel is on if the mask, sampled bilinearly at the pixel's centre and clamped to the centres
  /// of the mask's border pixels, is at least 127.5. `box` is in pixels of the image; an empty box,
  /// or one that is not finite, draws nothing.
  void blend(const Segmentation& mask, const Box& box, Target& target,
             const std::array<Paint, 4>& paints);

 private:
  std::vector<std::int32_t> cells_;  ///< [j]: first image column whose sample position is j or more
  std::vector<float> row_;
};

}  // namespace halyard::compat
