// SPDX-License-Identifier: Apache-2.0
// The kernel's data about the memory behind a descriptor.
#pragma once

#include <cstddef>

#include "halyard/fd.h"
#include "halyard/import.h"
#include "halyard/result.h"

namespace halyard {

/// Memory behind a descriptor, at the time of the call.
struct FdMemory {
  FdKind kind = FdKind::posix_shm;
  FdIdentity identity;
  std::size_t size_bytes = 0;
  bool writable = false;    ///< open for writing, and not sealed against it
  bool may_shrink = false;  ///< a part can be removed that no seal keeps; never true for a DMA-BUF
  bool has_huge_pages = false;
};

/// Whether no part of memory with these seals (F_SEAL_...) can be removed. With small pages the end
/// must stay where it is: a punched hole reads as zeros. With huge pages (hugetlbfs) there must be
/// no holes either, which only a seal against writing forbids: access to a hole needs a free huge
/// page, and without one the process is killed by SIGBUS.
bool seals_keep(int seals, bool huge_pages) noexcept;

/// Errors: those of fd_kind(), permission (cannot be read), os.
Result<FdMemory> examine_memory(int fd);

/// Seals the object against shrinking, then measures it again. Does nothing if it cannot shrink.
/// Errors: permission (it cannot be sealed; huge pages that others may write), os.
Status seal_memory(int fd, FdMemory& memory);

}  // namespace halyard
