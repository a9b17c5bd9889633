// SPDX-License-Identifier: Apache-2.0
// Levels of a description's outputs.
#pragma once

#include "halyard/description.h"

namespace halyard::decode {

/// Levels: the same strides for every role, the same cells and order of axes within one.
Status check_levels(const ModelDescription& description);

}  // namespace halyard::decode
