// SPDX-License-Identifier: Apache-2.0
// Checks of materialize(), and options with defaults.
#pragma once

#include <span>

#include "decode/mask/mask_logits.h"
#include "halyard/mask.h"

namespace halyard::decode {

/// Options with all defaults filled in.
struct MaskTarget {
  MaskRule rule = MaskRule::logits;
  Size size;             ///< of the frame
  Size grid;             ///< of the prototypes
  Size input;            ///< of the network
  RegionF content;       ///< in input pixels
  bool is_input = true;  ///< neither a size nor a content rectangle was given
};

/// The shape of the prototypes. `data` is not set. Errors: as materialize().
Result<PrototypeGrid> grid_of(const MaskPrototypes& prototypes);
/// Checks rows, boxes and quantization. Errors: as materialize().
Status check_masks(const MaskPrototypes& prototypes, const PrototypeGrid& grid,
                   std::span<const Detection> detections);
/// Fills in the defaults of the options. Errors: as materialize().
Result<MaskTarget> target_of(const MaskPrototypes& prototypes, const PrototypeGrid& grid,
                             const MaskOptions& options);

}  // namespace halyard::decode
