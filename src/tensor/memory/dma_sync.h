// SPDX-License-Identifier: Apache-2.0
// DmaSync: the DMA_BUF_IOCTL_SYNC calls of all maps of one buffer.
#pragma once

#include <cstddef>

#include "halyard/buffer.h"
#include "halyard/result.h"

namespace halyard {

/// The kernel keeps no count of who has begun, and its calls act on the buffer as a whole:
///   START|READ drops cached lines, also those that another map has just written; so does END|READ
///   of some kernels;
///   END may hide the buffer from the CPU, also from maps that are still open;
///   START|WRITE drops nothing, so a line that is then written in part takes old bytes to memory.
/// Hence, with maps counted per buffer:
///   - a map that writes begins both directions: what it leaves alone stays the device's, and who
///     joins it finds reading synchronised. While there is a writer, nobody else calls the kernel.
///   - a map that only reads begins with READ, also when it joins readers: there are no written
///     lines to lose, and a reader that is kept for long (an array in Python) must not make later
///     ones see the bytes of its own day. A reader that joins a writer sees those of the writer's.
///   - the last writer ends WRITE, so that its bytes reach the device whoever still reads; whoever
///     is last of all ends what is left.
/// So a map by itself costs one START and one END. Not thread-safe: the buffer's lock is held.
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
