// SPDX-License-Identifier: Apache-2.0
// Makers of the buffer kinds of this layer; allocate() chooses among them.
#pragma once

#include <cstddef>
#include <memory>

#include "halyard/buffer.h"

namespace halyard {

/// Alignment of the first byte of every buffer that the library allocates.
inline constexpr std::size_t buffer_alignment = 64;

/// Zero-filled heap memory. Errors: no_memory.
Result<std::shared_ptr<Buffer>> make_heap_buffer(std::size_t size_bytes);

/// POSIX shared memory without a name (created, then unlinked at once), mode 0600, mapped as long
/// as it lives. Errors: no_memory, os, permission.
Result<std::shared_ptr<Buffer>> make_shm_buffer(std::size_t size_bytes);

}  // namespace halyard
