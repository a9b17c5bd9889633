// SPDX-License-Identifier: Apache-2.0
// Extents and strides of a draft.
#pragma once

#include <cstdint>
#include <vector>

#include "reconcile/merge/draft.h"

namespace halyard {

/// solve() in two parts: extents and strides; memory.
void lay_out(const Merged& merged, const Candidate& candidate, Draft& draft,
             std::vector<Failure>& failures);

/// What the buffer holds: as the parties say, and by the keys that they set.
std::uint64_t kinds_of(const Merged& merged) noexcept;

}  // namespace halyard
