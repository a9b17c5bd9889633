// SPDX-License-Identifier: Apache-2.0
// Allocates DMA-BUFs: from the nodes of /dev/dma_heap, or from a memfd through udmabuf.
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

/// The heap name of the udmabuf device.
inline constexpr std::string_view udmabuf_name = "udmabuf";

/// Heaps to try: `asked`; if it is empty, those of HALYARD_TENSOR_DMA_HEAP; if that is unset, the
/// default order. Default: contiguous memory under the names that kernels use (for devices without
/// an IOMMU), then system, then udmabuf.
std::vector<std::string> dma_heap_order(const std::vector<std::string>& asked);

struct DmaMemory {
  Fd fd;
  std::string heap;  ///< the heap that allocated it
};

/// Zero-filled whole pages from the first heap that can allocate them. Nodes are open only during
/// the call. Errors: invalid_argument (a name is not a file name), unsupported (no heap exists, or
/// none can allocate), permission, no_memory, os. The detail gives the reason for each heap.
Result<DmaMemory> allocate_dma(std::size_t size_bytes, std::span<const std::string> order,
                               std::string_view label, const DmaNodes& nodes = {});

/// As dma_heaps(), with other nodes.
std::vector<DmaHeap> find_dma_heaps(const DmaNodes& nodes);

}  // namespace halyard
