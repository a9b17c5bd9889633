// SPDX-License-Identifier: Apache-2.0
// Suppression of upright boxes in order of score.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

/// Fills `kept` with positions, from `boxes` and `scores`. Soft suppression changes `scores`.
void suppress(const Rule& rule, Workspace& workspace);

/// The score after an overlap by a soft rule. Scores of 0 and below do not change.
float softened(float score, float overlap, const Rule& rule) noexcept;

}  // namespace halyard::decode
