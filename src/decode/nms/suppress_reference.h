// SPDX-License-Identifier: Apache-2.0
// The definition that tests compare suppress() with.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

/// suppress() without vectors, queue and spatial index.
void suppress_reference(const Rule& rule, Workspace& workspace);

}  // namespace halyard::decode
