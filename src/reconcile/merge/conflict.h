// SPDX-License-Identifier: Apache-2.0
// Conflicts: the minimal sets of facts that no buffer serves, as reports.
#pragma once

#include <vector>

#include "reconcile/merge/problem.h"

namespace halyard {

/// All independent conflicts of a candidate. No two of them share a fact.
std::vector<ConflictItem> find_conflicts(const Problem& problem, const Candidate& candidate,
                                         const MachineTraits& machine);

/// A fact as a report names it.
Statement to_statement(const Problem& problem, const Fact& fact, const Candidate& candidate);

/// "NHWC, rgba": the layouts of a candidate.
std::string tag_text(const Candidate& candidate);

/// "t.row_align", "i.pitch_exact[1]".
std::string slot_name(std::size_t slot);

}  // namespace halyard
