// SPDX-License-Identifier: Apache-2.0
// Which memory comes first where several kinds serve.
#pragma once

#include <cstdint>
#include <span>

#include "halyard/attributes.h"

namespace halyard {

/// All heaps, the preferred first. Where devices take part, those that are DMA-BUFs come first.
std::span<const Heap> heap_order(bool prefers_dma) noexcept;

/// The preferred one of a set; Heap::heap of none.
Heap best_heap(std::uint64_t heaps, bool prefers_dma) noexcept;

}  // namespace halyard
