// SPDX-License-Identifier: Apache-2.0
// From what a head gives to what is written of a frame.
#pragma once

#include <span>

#include "halyard/decode.h"
#include "halyard/placement.h"
#include "output/record.h"

namespace halyard::tool {

/// Fills record.seen and record.classes, masks aside. `found` are decoded.detections in the frame's
/// pixels; `placement` takes keypoints and corners there, null: they stay where they are.
void fill_seen(const Decoded& decoded, std::span<const Detection> found, const Placement* placement,
               FrameRecord& record);

}  // namespace halyard::tool
