// SPDX-License-Identifier: Apache-2.0
// The text of a report for each kind of failure.
#pragma once

#include "reconcile/merge/conflict.h"

namespace halyard {

/// Sets the rule, numbers, nearest values and hint of a failed check. The caller sets key and
/// parties.
void describe_failure(const Failure& failure, const Candidate& candidate, ConflictItem& item);

}  // namespace halyard
