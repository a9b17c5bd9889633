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

}  // namespace halyard
