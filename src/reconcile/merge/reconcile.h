// SPDX-License-Identifier: Apache-2.0
// reconcile() for those who ask engines between one round and the next.
#pragma once

#include <span>

#include "reconcile/merge/rounds.h"

namespace halyard {

/// reconcile() with what engines said of candidates. Without any buffer the report has the refusals
/// too.
Result<Reconciled> reconcile_after(std::span<const AttributeList* const> lists,
                                   const ReconcileOptions& options, const EngineRounds& before,
                                   Conflict* conflict);

/// The refusals as an error alone, and as a report where one is wanted.
Error refused_by_engines(std::span<const Refusal> refusals, Conflict* conflict);

}  // namespace halyard
