// SPDX-License-Identifier: Apache-2.0
// Memory that a MaskSet keeps between frames, so that making masks allocates nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "decode/mask/mask_geometry.h"
#include "decode/mask/mask_logits.h"

namespace halyard::decode {

/// The plan of one mask: its pixels in the prototypes and in the first target.
struct MaskPlan {
  PixelRange columns, rows;  ///< target pixels; prototype pixels if the rule has no target
  PixelRange source_columns, source_rows;  ///< prototype pixels whose logits are computed
  std::size_t grid = 0;                    ///< offset of the logits, in floats
  std::size_t grid_stride = 0;
};

struct MaskWorkspace {
  AxisSamples x, y;                ///< from target to prototypes
  AxisSamples second_x, second_y;  ///< from image to content rectangle
  LogitEngine engine;
  std::vector<MaskPlan> plans;
  std::vector<LogitJob> jobs;
  std::vector<float> logits;
  std::vector<float> lines;
  std::vector<std::uint8_t> first_bytes;  ///< of one mask at the network's input
  std::vector<std::uint8_t> rows;
};

}  // namespace halyard::decode
