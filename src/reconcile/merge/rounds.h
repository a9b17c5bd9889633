// SPDX-License-Identifier: Apache-2.0
// The answers and refusals of engines that reconcile_after() takes into account.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/reconcile.h"
#include "reconcile/merge/draft.h"

namespace halyard {

/// What a party's engine requires for one candidate. Makes no statement about other candidates.
struct EngineAnswer {
  Candidate candidate;
  std::size_t asked;  ///< index of the party that was asked
  std::string party;
  std::vector<Attribute> attributes;
};

/// Why a candidate is not tried as long as one of the stating parties takes part.
struct Refusal {
  Candidate candidate;
  std::string_view rule;
  std::vector<Statement> statements;
};

/// What engines answered in earlier rounds.
struct EngineRounds {
  std::vector<EngineAnswer> answers;
  std::vector<Refusal> refusals;
  std::vector<DroppedParty> absent;  ///< optional parties whose engine failed in fill()
};

}  // namespace halyard
