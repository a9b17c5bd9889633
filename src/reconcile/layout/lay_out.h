// SPDX-License-Identifier: Apache-2.0
// Computes the extents and strides of a draft.
#pragma once

#include <cstdint>
#include <vector>

#include "reconcile/merge/draft.h"

namespace halyard {

/// The first part of solve(): extents and strides. The second part is choose_memory().
void lay_out(const Merged& merged, const Candidate& candidate, Draft& draft,
             std::vector<Failure>& failures);

/// The kinds of the buffer's content, as bits: those of Key::kind, and those that follow from other
/// keys.
std::uint64_t kinds_of(const Merged& merged) noexcept;

}  // namespace halyard
