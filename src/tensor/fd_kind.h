// SPDX-License-Identifier: Apache-2.0
// What the kernel tells of the memory behind a descriptor.
#pragma once

#include <cstddef>

#include "halyard/fd.h"
#include "halyard/import.h"
#include "halyard/result.h"

namespace halyard {

/// Memory behind a descriptor, at the time of asking.
struct FdMemory {
  FdKind kind = FdKind::posix_shm;
  FdIdentity identity;
  std::size_t size_bytes = 0;
  bool writable = false;    ///< open for writing, and not sealed against it
  bool may_shrink = false;  ///< not sealed against it; never a DMA-BUF
};

/// Errors: those of fd_kind(), permission (cannot be read), os.
Result<FdMemory> examine_memory(int fd);

/// Sees to it that nobody can shrink the object any more, then measures it again. Does nothing
/// where that is so already. Errors: permission (it cannot be sealed), os.
Status seal_memory(int fd, FdMemory& memory);

}  // namespace halyard
