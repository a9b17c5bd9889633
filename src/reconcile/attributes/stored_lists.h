// SPDX-License-Identifier: Apache-2.0
// The attribute lists of a result, rebuilt from what it stores.
#pragma once

#include <vector>

#include "reconcile/merge/state.h"

namespace halyard {

/// Lists that lead to the result's buffer: for each party, in one or more lists, what it stated for
/// the chosen layout. Key::cpu and Key::perm are included for `party` only, or for all parties if
/// it is null. No list is optional.
std::vector<AttributeList> stored_lists(const ReconciledState& state, const std::string* party);

/// The bytes in which results of the same lists must be equal: the buffer and the facts that
/// determine it, but not what each party may do.
std::vector<std::byte> shared_bytes(const ReconciledState& state);

}  // namespace halyard
