// SPDX-License-Identifier: Apache-2.0
// The definition that suppress() is tested against.
#pragma once

#include "decode/nms/nms.h"

namespace halyard::decode {

/// suppress() without vectors, queues and neighbours: the definition that it is tested against.
void suppress_reference(const Rule& rule, Workspace& workspace);

}  // namespace halyard::decode
