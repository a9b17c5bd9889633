// SPDX-License-Identifier: Apache-2.0
// Memory that a MaskPainter keeps between frames, so that drawing allocates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/local.h"
#include "decode/mask/mask_workspace.h"
#include "draw/draw_engine.h"
#include "draw/mask/mask_band.h"

namespace halyard::draw {

/// A class's ink, made when the class first occurs in a frame.
struct ClassInk {
  std::uint64_t frame = 0;
  Ink ink;
};

struct HALYARD_LOCAL PaintWorkspace {
  explicit PaintWorkspace(DrawEngine chosen) : engine(std::move(chosen)) {}

  DrawEngine engine;
  decode::MaskWorkspace masks;
  std::vector<Ink> inks;  ///< of the detections
  MaskBand band;
  std::vector<ClassInk> class_inks;
  std::uint64_t frame = 0;
  std::vector<MaskOp> operations;
  std::vector<float> numbers;
  std::vector<std::array<std::uint8_t, 4>> class_table;
};

}  // namespace halyard::draw
