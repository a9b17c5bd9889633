// SPDX-License-Identifier: Apache-2.0
// From merged attributes to a draft of the buffer: extents, strides, memory.
#pragma once

#include <vector>

#include "reconcile/merge/draft.h"

namespace halyard {

/// Settles the extents and drafts the buffer; false: there are failures, which are appended. What
/// nobody said is taken as asking for least, so that fewer facts never fail where more do not.
bool solve(Merged& merged, const Candidate& candidate, const MachineTraits& machine, Draft& draft,
           std::vector<Failure>& failures);

void choose_memory(const Merged& merged, const Candidate& candidate, const MachineTraits& machine,
                   Draft& draft, std::vector<Failure>& failures);

/// All heaps, the preferred first.
std::span<const Heap> heap_order(MemoryOrder order) noexcept;

/// The preferred one of a set; Heap::heap of none.
Heap best_heap(std::uint64_t heaps, MemoryOrder order) noexcept;

}  // namespace halyard
