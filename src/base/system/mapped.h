// SPDX-License-Identifier: Apache-2.0
// MappedMemory: one mapping of a file descriptor. The only home of mmap, memfd and shm_open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "halyard/fd.h"
#include "halyard/result.h"

namespace halyard {

/// A shared mapping of the first `size` bytes of a descriptor; unmapped at the end. Move-only.
class MappedMemory {
 public:
  MappedMemory() = default;
  /// The descriptor may be closed afterwards. Errors: invalid_argument (size 0), no_memory,
  /// permission, os.
  static Result<MappedMemory> create(int fd, std::size_t size, bool writable);
  MappedMemory(MappedMemory&& other) noexcept;
  MappedMemory& operator=(MappedMemory&& other) noexcept;
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

/// An empty POSIX shared memory object without a name (made, then unlinked at once), mode 0600.
/// Errors: exists, permission, os.
Result<Fd> create_shared_object();

/// A memfd of `size_bytes` zero bytes, mode 0600, sealed against shrinking, growing and further
/// seals, so that nobody who gets it can pull pages away from under a mapping. Reserves nothing;
/// what the machine could never hold is refused. `name` (cut to 31 bytes) is for the kernel's
/// lists. Errors: no_memory, unsupported (no memfd in this kernel: errno ENOSYS), permission, os.
Result<Fd> create_sealed_memory(std::string_view name, std::size_t size_bytes);

/// Memory that this process alone can write: `mapped` is writable, and no other mapping of `fd` can
/// be, in any process, nor can its size or content be changed through a descriptor.
struct OwnMemory {
  Fd fd;  ///< for others to map for reading
  MappedMemory mapped;
};
struct OwnMemoryOptions {
  bool touch = false;       ///< map all pages now, so that the first access of each faults no more
  bool lock = false;        ///< keep all pages in RAM
  bool huge_pages = false;  ///< ask for transparent huge pages, where the system gives them
  /// How many of the bytes are reserved, from the first on; the others must not be touched before
  /// extend_own_memory().
  std::size_t reserved_bytes = SIZE_MAX;
};
/// `size_bytes` zero bytes, reserved: a machine without room for them says so here. Errors:
/// invalid_argument (size 0), no_memory (also: a lock beyond RLIMIT_MEMLOCK), unsupported (a kernel
/// before Linux 5.1), permission, os.
Result<OwnMemory> create_own_memory(std::string_view name, std::size_t size_bytes,
                                    const OwnMemoryOptions& options = {});

/// Reserves `size_bytes` more from `offset` on, with the options of its making. Errors: those of
/// create_own_memory().
Status extend_own_memory(const OwnMemory& memory, std::size_t offset, std::size_t size_bytes,
                         const OwnMemoryOptions& options = {});

/// Gives bytes of a borrowed descriptor's shared memory their pages now: a full machine is an error
/// here instead of a SIGBUS later. Errors: no_memory, os.
Status reserve_memory(int fd, std::size_t offset, std::size_t size_bytes);

/// Bytes of RAM and swap of this machine at the first call; SIZE_MAX when it does not tell.
std::size_t system_memory_bytes() noexcept;

/// The seals (F_SEAL_*) of a borrowed descriptor; none when its kind has no seals.
std::optional<int> seals_of(int fd) noexcept;

/// Adds F_SEAL_SHRINK to a borrowed descriptor. Errors: permission (sealed against seals, or opened
/// read-only), unsupported (its kind has no seals), os.
Status seal_against_shrinking(int fd);

}  // namespace halyard
