// SPDX-License-Identifier: Apache-2.0
// What a DMA-BUF can do beyond a Buffer: heaps to allocate from, labels, fences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/export.h"
#include "halyard/fd.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A place that DMA-BUFs are allocated from.
struct DmaHeap {
  std::string name;  ///< as AllocateOptions::dma_heaps takes it: "system", "udmabuf", a vendor's
  std::string node;  ///< its device node
  Status usable;     ///< the failure says why this process cannot allocate from it
};

/// All heaps of this machine: those of the configured order that exist, then other nodes of
/// /dev/dma_heap by name, then udmabuf. Looks each time; opens and closes each node. Thread-safe.
std::vector<DmaHeap> dma_heaps();

/// Labels a DMA-BUF for the kernel's lists (DMA_BUF_SET_NAME); at most 31 bytes.
/// Errors: invalid_argument (longer, or not a DMA-BUF), os.
Status set_label(const Buffer& buffer, std::string_view label);

/// A sync file with the fences that access of this kind has to wait for: for reading those of
/// writers, for writing all. For engines that take explicit fences.
/// Errors: invalid_argument (not a DMA-BUF), unsupported (the kernel lacks it: before 6.0), os.
Result<Fd> export_sync_file(const Buffer& buffer, Access access);

/// Makes the buffer's users wait for `sync_file` (borrowed): as a reader's fence or a writer's.
/// Errors: those of export_sync_file(); invalid_argument (no sync file).
Status import_sync_file(const Buffer& buffer, Access access, int sync_file);

}  // namespace halyard
HALYARD_EXPORTS_END
