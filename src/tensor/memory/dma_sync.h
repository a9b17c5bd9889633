// SPDX-License-Identifier: Apache-2.0
// DmaSync: the DMA_BUF_IOCTL_SYNC calls for all maps of one buffer.
#pragma once

#include <cstddef>

#include "halyard/buffer.h"
#include "halyard/result.h"

namespace halyard {

/// The kernel does not count who has begun, and its calls act on the whole buffer:
///   START|READ drops cached lines, also those that another map has just written; so does END|READ
///   of some kernels;
///   END may hide the buffer from the CPU, also from maps that are still open;
///   START|WRITE drops nothing, so a later partial write of a line takes its old bytes to memory.
/// Therefore maps are counted per buffer:
///   - A map that writes begins both directions: bytes that it does not write keep the device's
///     values, and a map that joins it finds reading synchronised. While there is a writer, no
///     other map calls the kernel.
///   - A map that only reads begins with READ, also when it joins readers: there are no written
///     lines to lose, and a long-lived reader (an array in Python) must not hide newer data from
///     later readers. A reader that joins a writer sees what the writer sees.
///   - The last writer ends WRITE, so that its bytes reach the device even while others read. The
///     last map of all ends what is left.
/// So a single map costs one START and one END. Not thread-safe: the caller holds the buffer's
/// lock.
class DmaSync {
 public:
  /// Call before the bytes are accessed. A failure changes nothing. Errors: os, and the code of the
  /// errno.
  Status begin(int fd, Access access);
  /// Call after the access. A failure can only be logged: the map is over.
  Status end(int fd, Access access);

 private:
  std::size_t readers_ = 0;  ///< maps that only read
  std::size_t writers_ = 0;  ///< maps that write, and maybe read
};

}  // namespace halyard
