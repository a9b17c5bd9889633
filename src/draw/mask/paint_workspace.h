// SPDX-License-Identifier: Apache-2.0
// Memory that a MaskPainter keeps between frames, so that drawing allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/local.h"
#include "decode/mask/mask_workspace.h"
#include "draw/mask/mask_band.h"

namespace halyard::draw {

/// A class's ink, made when the class first occurs in a frame.
struct ClassInk {
  std::uint64_t frame = 0;
  Ink ink;
};

struct HALYARD_LOCAL PaintWorkspace {
  decode::MaskWorkspace masks;
  std::vector<Ink> inks;  ///< of the detections
  MaskBand band;
  std::vector<ClassInk> class_inks;
  std::uint64_t frame = 0;
};

}  // namespace halyard::draw
