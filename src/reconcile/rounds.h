// SPDX-License-Identifier: Apache-2.0
// reconcile() for those who ask again and again.
#pragma once

#include <span>

#include "halyard/reconcile.h"
#include "reconcile/draft.h"

namespace halyard {

/// reconcile() that tries no layouts of `excluded`.
Result<Reconciled> reconcile_without(std::span<const AttributeList* const> lists,
                                     const ReconcileOptions& options,
                                     std::span<const Candidate> excluded, Conflict* conflict);

}  // namespace halyard
