// SPDX-License-Identifier: Apache-2.0
// DMA-BUFs that the driver of the GPU makes, for machines without a heap of them.
#pragma once

#include <cstddef>
#include <memory>

#include "gl/display/worker.h"
#include "halyard/buffer.h"

namespace halyard::gl {

/// Zero-filled, of at least `size_bytes`, which the CPU maps and OpenGL imports. It outlives the
/// worker. Errors: unsupported (the driver exports no DMA-BUFs, or in tiles that the CPU cannot
/// address, or without a map), invalid_argument (0 bytes, larger than the largest texture),
/// no_memory, device, those of Importer::import_buffer(). Thread-safe.
Result<std::shared_ptr<Buffer>> export_dma_buffer(Worker& worker, std::size_t size_bytes);

}  // namespace halyard::gl
