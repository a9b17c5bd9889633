// SPDX-License-Identifier: Apache-2.0
// Chooses the memory of a buffer and completes its draft: extents, strides, memory.
#pragma once

#include <vector>

#include "reconcile/merge/draft.h"

namespace halyard {

/// Settles the extents and drafts the buffer. Returns false if there are failures, which are
/// appended. A value that no party stated takes its weakest requirement, so that fewer facts never
/// fail where more facts do not.
bool solve(Merged& merged, const Candidate& candidate, const MachineTraits& machine, Draft& draft,
           std::vector<Failure>& failures);

void choose_memory(const Merged& merged, const Candidate& candidate, const MachineTraits& machine,
                   Draft& draft, std::vector<Failure>& failures);

/// All heaps, the preferred one first.
std::span<const Heap> heap_order(MemoryOrder order) noexcept;

/// The preferred heap of a set; Heap::heap if the set is empty.
Heap best_heap(std::uint64_t heaps, MemoryOrder order) noexcept;

}  // namespace halyard
