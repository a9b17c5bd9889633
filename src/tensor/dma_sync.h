// SPDX-License-Identifier: Apache-2.0
// DmaSync: the DMA_BUF_IOCTL_SYNC calls of all maps of one buffer.
#pragma once

#include <cstddef>

#include "halyard/buffer.h"
#include "halyard/result.h"

namespace halyard {

/// The kernel keeps no count of who has begun, and its calls act on caches as a whole:
///   START|READ drops cached lines, also those that another map has just written;
///   END may hide the buffer from the CPU, also from maps that are still open;
///   START|WRITE drops nothing, so a line that is then written in part carries old bytes to memory.
/// Hence, with maps counted per buffer:
///   - a map that writes begins with READ|WRITE: bytes that it leaves alone stay the device's, and
///     whoever joins it finds reading synchronised. Nobody who joins a writer calls the kernel.
///   - a map that only reads begins with READ, also when it joins readers: there are no written
///     lines to lose, and a reader that was kept open (an array in Python) must not make later
///     readers see old bytes.
///   - END is called when the last writer ends, and READ is started again for readers that remain;
///     and when the last reader ends with no writer left.
/// So one map costs one START and one END. Not thread-safe: the buffer's lock is held around it.
class DmaSync {
 public:
  /// Before the bytes are touched. A failure changes nothing. Errors: os, and what the errno says.
  Status begin(int fd, Access access);
  /// After they were touched. A failure is for the log: the map is over.
  Status end(int fd, Access access);

 private:
  std::size_t readers_ = 0;  ///< maps that only read
  std::size_t writers_ = 0;  ///< maps that write, and maybe read
};

}  // namespace halyard
