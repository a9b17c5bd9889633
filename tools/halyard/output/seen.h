// SPDX-License-Identifier: Apache-2.0
// Converts the output of a head to the record of a frame.
#pragma once

#include <span>

#include "halyard/decode.h"
#include "halyard/placement.h"
#include "output/record.h"

namespace halyard::tool {

/// Fills record.seen and record.classes, except masks. `found` are decoded.detections in the
/// frame's pixels. `placement` maps keypoints and corners to these pixels; null: they are not
/// mapped.
void fill_seen(const Decoded& decoded, std::span<const Detection> found, const Placement* placement,
               FrameRecord& record);

}  // namespace halyard::tool
