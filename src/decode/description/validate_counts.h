// SPDX-License-Identifier: Apache-2.0
// Checks the counts of boxes, classes, coefficients and features among the outputs of a
// description.
#pragma once

#include "halyard/description.h"

namespace halyard::decode {

/// Checks counts of boxes, classes, coefficients, features and cells. check_output() must have
/// accepted every output before.
Status check_counts(const ModelDescription& description);

}  // namespace halyard::decode
