// SPDX-License-Identifier: Apache-2.0
// Settles extents that no party states, or that a range leaves open.
#pragma once

#include <vector>

#include "reconcile/merge/draft.h"

namespace halyard {

/// Sets extents to what is required of them, if no party states them or a range leaves them open.
/// Appends a failure for each requirement outside the allowed range.
void settle_extents(Merged& merged, std::vector<Failure>& failures);

}  // namespace halyard
