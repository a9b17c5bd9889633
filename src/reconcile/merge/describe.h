// SPDX-License-Identifier: Apache-2.0
// One line of text for each kind of failure.
#pragma once

#include "reconcile/merge/conflict.h"

namespace halyard {

/// Rule, numbers, nearest values and hint of a failed check; key and parties are the caller's.
void describe_failure(const Failure& failure, const Candidate& candidate, ConflictItem& item);

}  // namespace halyard
