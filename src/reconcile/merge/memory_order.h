// SPDX-License-Identifier: Apache-2.0
// Which memory comes first where several kinds serve.
#pragma once

#include <cstdint>
#include <span>

#include "halyard/attributes.h"

namespace halyard {

struct MemoryOrder {
  bool prefers_dma = false;       ///< devices take part: DMA-BUFs come first
  bool prefers_uncached = false;  ///< a party wishes that no CPU caches the memory
};
/// All heaps, the preferred first.
std::span<const Heap> heap_order(MemoryOrder order) noexcept;

/// The preferred one of a set; Heap::heap of none.
Heap best_heap(std::uint64_t heaps, MemoryOrder order) noexcept;

}  // namespace halyard
