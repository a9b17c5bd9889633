// SPDX-License-Identifier: Apache-2.0
// The result of a negotiation, made from its draft.
#pragma once

#include "reconcile/merge/state.h"

namespace halyard {

/// The result for a draft without failures.
Reconciled make_reconciled(const Problem& problem, const Candidate& candidate,
                           std::vector<Fact> facts, const Merged& merged, const Draft& draft,
                           const MachineTraits& machine, std::vector<DroppedParty> dropped);

}  // namespace halyard
