// SPDX-License-Identifier: Apache-2.0
// The physical address of a buffer, found once and kept on the buffer.
#pragma once

#include <cstdint>
#include <memory>

#include "halyard/buffer.h"
#include "image/g2d/g2d_library.h"

namespace halyard::image::g2d {

/// How the blitter reaches a buffer.
struct ReachedMemory {
  std::uint64_t address = 0;  ///< physical, of the first byte; 0: it cannot be reached
  void* handle = nullptr;     ///< the library's buffer, for its caches; null: it has none
};

/// Finds the address of a DMA-BUF by g2d_buf_from_fd(), else by DMA_BUF_IOCTL_PHYS. The answer,
/// also a negative one, stays on the buffer, and the device open with it: a known buffer costs no
/// system call and no allocation. Thread-safe.
ReachedMemory reach(const std::shared_ptr<G2dDevice>& device, Buffer& buffer) noexcept;

}  // namespace halyard::image::g2d
