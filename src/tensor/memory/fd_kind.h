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
  bool may_shrink = false;  ///< a part can go that no seal keeps; never of a DMA-BUF
  bool has_huge_pages = false;
};

/// Whether no part of memory with these seals (F_SEAL_...) can go. Of small pages the end must stay
/// where it is: a hole that is punched reads as zeros. Of huge pages (hugetlbfs) none may be
/// punched either, which only a seal against writing forbids: to touch one needs a free huge page,
/// and where there is none the process is killed by SIGBUS.
bool seals_keep(int seals, bool huge_pages) noexcept;

/// Errors: those of fd_kind(), permission (cannot be read), os.
Result<FdMemory> examine_memory(int fd);

/// Sees to it that nobody can shrink the object any more, then measures it again. Does nothing
/// where that is so already. Errors: permission (it cannot be sealed; huge pages that others may
/// write to), os.
Status seal_memory(int fd, FdMemory& memory);

}  // namespace halyard
