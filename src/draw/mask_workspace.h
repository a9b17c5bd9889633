// SPDX-License-Identifier: Apache-2.0
// Memory that a MaskPainter keeps between frames, so that drawing allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/local.h"
#include "decode/mask/mask_workspace.h"
#include "draw/mask_canvas.h"

namespace halyard::draw {

/// A class's ink, made when the class first occurs in a frame.
struct ClassInk {
  std::uint64_t frame = 0;
  Ink ink;
};

struct HALYARD_LOCAL PaintWorkspace {
  decode::MaskWorkspace masks;
  std::vector<Ink> inks;  ///< of the detections
  std::vector<std::uint8_t> bits;
  std::vector<std::uint8_t> ones;
  std::vector<ClassInk> class_inks;
  std::uint64_t frame = 0;

  /// Space for `rows` rows of `width` pixels, and for the bytes around them that MaskCanvas writes.
  MaskBits band(std::size_t width, std::size_t rows);
};

/// Rows of the image on which all masks are drawn before the next rows, so that they stay in the
/// cache. Must be even for NV12.
inline constexpr std::size_t band_rows = 64;

}  // namespace halyard::draw
