// SPDX-License-Identifier: Apache-2.0
// Suppression of upright boxes in their order of scores.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

/// Fills `kept` with positions, from `boxes` and `scores`; soft suppression changes scores.
void suppress(const Rule& rule, Workspace& workspace);

/// A score after an overlap, by a soft rule; scores of 0 and below stay.
float softened(float score, float overlap, const Rule& rule) noexcept;

}  // namespace halyard::decode
