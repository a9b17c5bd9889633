// SPDX-License-Identifier: Apache-2.0
// Functions that make the buffer kinds of this layer. allocate() and Importer choose among them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "halyard/buffer.h"
#include "halyard/fd.h"

namespace halyard {

struct DmaNodes;

/// Alignment of the first byte of every buffer that the library allocates.
inline constexpr std::size_t buffer_alignment = 64;

/// Zero-filled heap memory that begins at a multiple of `align_bytes`. Errors: no_memory.
Result<std::shared_ptr<Buffer>> make_heap_buffer(std::size_t size_bytes,
                                                 std::size_t align_bytes = buffer_alignment);

/// Zero-filled memory with a descriptor: a memfd that can neither shrink nor grow, mode 0600,
/// mapped as long as the buffer lives. `label` (empty: "halyard") is its name in the kernel's
/// lists. If the kernel has no memfd, this is make_posix_shm_buffer(). Errors: no_memory, os,
/// permission.
Result<std::shared_ptr<Buffer>> make_shm_buffer(std::size_t size_bytes, std::string_view label);

/// Zero-filled memory that only this process can write: AllocateOptions::sole_writer. Errors:
/// unsupported, no_memory, os, permission.
Result<std::shared_ptr<Buffer>> make_own_shm_buffer(std::size_t size_bytes, std::string_view label);

/// POSIX shared memory without a name (it is unlinked at once), mode 0600, mapped as long as the
/// buffer lives. It has no seals, so its pages are reserved. Errors: no_memory, os, permission.
Result<std::shared_ptr<Buffer>> make_posix_shm_buffer(std::size_t size_bytes);

/// A zero-filled DMA-BUF from the first heap in the order that can allocate it; see dma_heap.h.
/// Errors: unsupported (no heap on this machine), permission, no_memory, os.
Result<std::shared_ptr<Buffer>> make_dma_buffer(std::size_t size_bytes,
                                                const AllocateOptions& options);
/// As above, with other device nodes.
Result<std::shared_ptr<Buffer>> make_dma_buffer(std::size_t size_bytes,
                                                const AllocateOptions& options,
                                                const DmaNodes& nodes);

/// A zero-filled pixel buffer from what set_pixel_buffer_maker() has set. Errors: unsupported
/// (nothing makes them), those of the maker.
Result<std::shared_ptr<Buffer>> make_pixel_buffer(std::size_t size_bytes);

/// Whether Memory::automatic tries DMA-BUFs first: they work here and the heap is not forced.
bool automatic_tries_dma();

/// A Buffer over a DMA-BUF of at least `size_bytes` that another party made. Takes the descriptor;
/// maps at the first map() and stays mapped. `writable` false maps for reading only. The caller has
/// checked kind and size. Errors: invalid_argument (empty fd, size 0).
Result<std::shared_ptr<Buffer>> adopt_dma_buffer(Fd fd, std::size_t size_bytes, bool writable);

/// A Buffer over a memfd or POSIX shared memory that another party made. Takes the descriptor.
/// `may_shrink`: check the size at every map. Errors: no_memory, permission, os.
Result<std::shared_ptr<Buffer>> adopt_shared_memory(Fd fd, std::size_t size_bytes, bool writable,
                                                    bool may_shrink);

}  // namespace halyard
