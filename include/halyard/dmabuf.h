// SPDX-License-Identifier: Apache-2.0
// Additional functions of DMA-BUFs: heaps to allocate from, labels, fences.
#pragma once

#include <chrono>
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
  std::string name;  ///< as in AllocateOptions::dma_heaps: "system", "udmabuf", a vendor's
  std::string node;  ///< its device node
  Status usable;     ///< the error is the reason why this process cannot allocate from it
};

/// All heaps of this machine: the existing heaps of the configured order, then other nodes of
/// /dev/dma_heap by name, then udmabuf. Each call opens and closes each node. Thread-safe.
std::vector<DmaHeap> dma_heaps();

/// Labels a DMA-BUF for the kernel's lists (DMA_BUF_SET_NAME); at most 31 bytes.
/// Errors: invalid_argument (longer, or not a DMA-BUF), os.
Status set_label(const Buffer& buffer, std::string_view label);

/// Returns a sync file with the fences that this access must wait for: those of writers for
/// reading, all for writing. For engines that take explicit fences.
/// Errors: invalid_argument (not a DMA-BUF), unsupported (the kernel lacks it: before 6.0), os.
Result<Fd> export_sync_file(const Buffer& buffer, Access access);

/// Adds `sync_file` (borrowed) to the buffer as the fence of a reader or a writer, so that other
/// users wait for it. Errors: those of export_sync_file(); invalid_argument (not a sync file).
Status import_sync_file(const Buffer& buffer, Access access, int sync_file);

/// Waits until a sync file (borrowed), or another descriptor that becomes readable, signals.
/// Errors: timeout (also for a negative one, which looks once), invalid_argument (not an open
/// descriptor), os. Thread-safe.
Status wait_sync_file(int sync_file, std::chrono::milliseconds timeout);

}  // namespace halyard
HALYARD_EXPORTS_END
