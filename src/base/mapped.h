// SPDX-License-Identifier: Apache-2.0
// MappedMemory: one mapping of a file descriptor. The only home of mmap and munmap.
#pragma once

#include <cstddef>
#include <span>

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

}  // namespace halyard
