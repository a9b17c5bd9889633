// SPDX-License-Identifier: Apache-2.0
// MappedMemory: one mapping of a file descriptor. Only this file and its .cpp use mmap, memfd and
// shm_open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard {

/// A shared mapping of bytes of a descriptor. The destructor unmaps it. Move-only.
class MappedMemory {
 public:
  MappedMemory() = default;
  /// Maps the first `size` bytes. The descriptor may be closed afterwards. Errors: invalid_argument
  /// (size 0), no_memory, permission, os.
  static Result<MappedMemory> create(int fd, std::size_t size, bool writable);
  /// The same for `size` bytes from `offset` on, a multiple of the page size.
  static Result<MappedMemory> create_at(int fd, std::size_t offset, std::size_t size,
                                        bool writable);
  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&& other) noexcept;
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// An empty POSIX shared memory object without a name (it is unlinked at once), mode 0600. Errors:
/// exists, permission, os.
Result<Fd> create_shared_object();

/// A memfd of `size_bytes` zero bytes, mode 0600. It is sealed against shrinking, growing and
/// further seals, so that no receiver can remove pages under a mapping. Reserves nothing, but
/// refuses a size above RAM and swap. `name` (cut to 31 bytes) is shown in the kernel's lists.
/// Errors: no_memory, unsupported (this kernel has no memfd: errno ENOSYS), permission, os.
Result<Fd> create_sealed_memory(std::string_view name, std::size_t size_bytes);

/// Memory that only this process can write. `mapped` is writable; no other mapping of `fd` can be,
/// in any process. A descriptor can change neither its size nor its content.
struct OwnMemory {
  Fd fd;  ///< for others to map for reading
  MappedMemory mapped;
};
struct OwnMemoryOptions {
  bool touch = false;       ///< map all pages now, so that the first access causes no page fault
  bool lock = false;        ///< keep all pages in RAM
  bool huge_pages = false;  ///< ask for transparent huge pages, if the system has them
  /// How many bytes are reserved, from the first one. The others must not be accessed before
  /// extend_own_memory().
  std::size_t reserved_bytes = SIZE_MAX;
};
/// `size_bytes` zero bytes, reserved: if the machine has too little memory, this call fails.
/// Errors: invalid_argument (size 0), no_memory (also: a lock beyond RLIMIT_MEMLOCK), unsupported
/// (a kernel before Linux 5.1), permission, os.
Result<OwnMemory> create_own_memory(std::string_view name, std::size_t size_bytes,
                                    const OwnMemoryOptions& options = {});

/// Reserves `size_bytes` more from `offset` on. `options` are those of create_own_memory(). Errors:
/// those of create_own_memory().
Status extend_own_memory(const OwnMemory& memory, std::size_t offset, std::size_t size_bytes,
                         const OwnMemoryOptions& options = {});

/// Allocates pages for bytes of a borrowed descriptor's shared memory now. A lack of memory is an
/// error here and not a SIGBUS later. Errors: no_memory, os.
Status reserve_memory(int fd, std::size_t offset, std::size_t size_bytes);

/// Bytes of RAM and swap of this machine at the first call; SIZE_MAX if the system reports none.
std::size_t system_memory_bytes() noexcept;

/// The seals (F_SEAL_*) of a borrowed descriptor; nullopt if its kind has no seals.
std::optional<int> seals_of(int fd) noexcept;

/// Adds F_SEAL_SHRINK to a borrowed descriptor. Errors: permission (sealed against seals, or opened
/// read-only), unsupported (its kind has no seals), os.
Status seal_against_shrinking(int fd);

}  // namespace halyard
