// SPDX-License-Identifier: Apache-2.0
// reconcile() with the answers of engines, for the rounds of questions.
#pragma once

#include <span>

#include "reconcile/merge/rounds.h"

namespace halyard {

/// reconcile() with what engines answered for candidates. If no buffer is found, the report
/// includes the refusals.
Result<Reconciled> reconcile_after(std::span<const AttributeList* const> lists,
                                   const ReconcileOptions& options, const EngineRounds& before,
                                   Conflict* conflict);

/// The refusals as an error, and as a report unless `conflict` is null.
Error refused_by_engines(std::span<const Refusal> refusals, Conflict* conflict);

}  // namespace halyard
