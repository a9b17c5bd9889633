// SPDX-License-Identifier: Apache-2.0
// Checks the levels among the outputs of a description.
#pragma once

#include "halyard/description.h"

namespace halyard::decode {

/// Levels of every role must have the same strides; levels of one stride must have the same cells
/// and order of axes.
Status check_levels(const ModelDescription& description);

}  // namespace halyard::decode
