// SPDX-License-Identifier: Apache-2.0
// Blends a mask of bytes over a box of an image, enlarged bilinearly.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compat/target.h"
#include "halyard/compat/decode.h"

namespace halyard::compat {

/// Keeps its tables. One thread at a time.
class ByteMask {
 public:
  /// A pixel is on where the mask, sampled at the pixel's centre between the centres of its own
  /// pixels and clamped to those, is at least 127.5. `box` in pixels of the image; one that is
  /// not finite or empty shows nothing.
  void blend(const Segmentation& mask, const Box& box, Target& target,
             const std::array<Paint, 4>& paints);

 private:
  std::vector<std::int32_t> cells_;  ///< first column whose sample is right of mask column j
  std::vector<float> row_;
};

}  // namespace halyard::compat
