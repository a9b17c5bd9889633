// SPDX-License-Identifier: Apache-2.0
// The lists of a result, made again of what it stores.
#pragma once

#include <vector>

#include "reconcile/merge/state.h"

namespace halyard {

/// Lists that agree on the result's buffer: of each party what it said for the layout that was
/// chosen, in one list or several. What parties do with the CPU and with the bytes (Key::cpu and
/// Key::perm) is of `party` alone; all if it is null. None of them is optional.
std::vector<AttributeList> stored_lists(const ReconciledState& state, const std::string* party);

/// What the result of the same lists must be equal in: its buffer, and who made it what it is, but
/// not what each party may do.
std::vector<std::byte> shared_bytes(const ReconciledState& state);

}  // namespace halyard
