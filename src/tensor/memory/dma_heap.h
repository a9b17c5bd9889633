// SPDX-License-Identifier: Apache-2.0
// New DMA-BUFs: from the nodes of /dev/dma_heap, or from a memfd through udmabuf.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/dmabuf.h"
#include "halyard/fd.h"
#include "tensor/memory/dma_node.h"

namespace halyard {

/// The name that stands for the udmabuf device among heap names.
inline constexpr std::string_view udmabuf_name = "udmabuf";

/// Heaps to try: those asked for, else those of HALYARD_TENSOR_DMA_HEAP, else the default order:
/// contiguous memory under the names that kernels give it (what devices without an IOMMU need),
/// then system, then udmabuf.
std::vector<std::string> dma_heap_order(const std::vector<std::string>& asked);

struct DmaMemory {
  Fd fd;
  std::string heap;  ///< the one that served
};

/// Memory from the first heap that gives it; zero-filled, whole pages. Nodes are open for the call
/// alone. Errors: invalid_argument (a name that is no file name), unsupported (none of them is
/// here, or can serve), permission, no_memory, os; the detail tells of each heap why not.
Result<DmaMemory> allocate_dma(std::size_t size_bytes, std::span<const std::string> order,
                               std::string_view label, const DmaNodes& nodes = {});

/// dma_heaps() over other nodes.
std::vector<DmaHeap> find_dma_heaps(const DmaNodes& nodes);

}  // namespace halyard
