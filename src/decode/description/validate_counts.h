// SPDX-License-Identifier: Apache-2.0
// Counts of boxes, classes, coefficients, features and cells of a description's outputs.
#pragma once

#include "halyard/description.h"

namespace halyard::decode {

/// Counts of boxes, classes, coefficients, features and cells. The outputs have passed the above.
Status check_counts(const ModelDescription& description);

}  // namespace halyard::decode
