// SPDX-License-Identifier: Apache-2.0
// reconcile() for those who ask engines between one time and the next.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/reconcile.h"
#include "reconcile/merge/draft.h"

namespace halyard {

/// What a party's engine adds for one candidate: it says nothing of others.
struct EngineAnswer {
  Candidate candidate;
  std::size_t asked;  ///< which of the parties that were asked
  std::string party;
  std::vector<Attribute> attributes;
};

/// Why a candidate is not tried while one of those who say so takes part.
struct Refusal {
  Candidate candidate;
  std::string_view rule;
  std::vector<Statement> statements;
};

/// What engines said in the rounds before.
struct EngineRounds {
  std::vector<EngineAnswer> answers;
  std::vector<Refusal> refusals;
  std::vector<DroppedParty> absent;  ///< optional ones whose engine cannot say what it needs
};

/// reconcile() with what engines said of candidates. Without any buffer the report has the refusals
/// too.
Result<Reconciled> reconcile_after(std::span<const AttributeList* const> lists,
                                   const ReconcileOptions& options, const EngineRounds& before,
                                   Conflict* conflict);

/// The refusals as an error alone, and as a report where one is wanted.
Error refused_by_engines(std::span<const Refusal> refusals, Conflict* conflict);

}  // namespace halyard
