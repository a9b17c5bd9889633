// SPDX-License-Identifier: Apache-2.0
// Negotiated buffers that the CPU does not map.
#pragma once

#include "reconcile/buffer/negotiated_state.h"

namespace halyard {

/// A buffer over memory that this process does not map. `fd` is borrowed and duplicated. Errors:
/// os.
Result<NegotiatedBuffer> import_unmapped(const Reconciled& result, int fd, std::size_t size_bytes,
                                         const MemoryFacts& facts);

/// A buffer over the same memory that cannot be mapped: for buffers that no CPU may see.
std::shared_ptr<Buffer> without_maps(std::shared_ptr<Buffer> memory);

}  // namespace halyard
