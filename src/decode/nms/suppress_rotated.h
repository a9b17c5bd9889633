// SPDX-License-Identifier: Apache-2.0
// Suppression of rotated boxes in their order of scores.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

/// The same from `gaussians`.
void suppress_rotated(const Rule& rule, Workspace& workspace);

}  // namespace halyard::decode
