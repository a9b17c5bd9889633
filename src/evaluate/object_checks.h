// SPDX-License-Identifier: Apache-2.0
// Checks of objects before they are compared.
#pragma once

#include <span>

#include "halyard/evaluate.h"

namespace halyard::evaluate {

/// Whether the objects can be compared. `name` is the list's, for messages. Errors:
/// invalid_argument (the message has the object's path and the rule).
Status check_objects(const CocoTruth& truth, std::span<const CocoObject> objects, const char* name,
                     CocoKind kind);

}  // namespace halyard::evaluate
