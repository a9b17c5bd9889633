// SPDX-License-Identifier: Apache-2.0
// Buffers of a negotiation that the CPU does not map.
#pragma once

#include "reconcile/buffer/negotiated_state.h"

namespace halyard {

/// A buffer over a borrowed descriptor of memory that this process does not map. Errors: os.
Result<NegotiatedBuffer> import_unmapped(const Reconciled& result, int fd, std::size_t size_bytes,
                                         const MemoryFacts& facts);

/// Memory that gives no map: for buffers that no CPU may see.
std::shared_ptr<Buffer> without_maps(std::shared_ptr<Buffer> memory);

}  // namespace halyard
