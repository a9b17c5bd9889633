// SPDX-License-Identifier: Apache-2.0
// Suppression of rotated boxes in order of score.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

/// As suppress(), from `gaussians` instead of `boxes`.
void suppress_rotated(const Rule& rule, Workspace& workspace);

}  // namespace halyard::decode
