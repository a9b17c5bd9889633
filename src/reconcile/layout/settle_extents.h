// SPDX-License-Identifier: Apache-2.0
// Extents that nobody states, or that a range leaves open.
#pragma once

#include <vector>

#include "reconcile/merge/draft.h"

namespace halyard {

/// Makes extents what is required of them, where nobody says them or a range leaves them open.
/// Appends a failure for each that must not be so large, or so small.
void settle_extents(Merged& merged, std::vector<Failure>& failures);

}  // namespace halyard
