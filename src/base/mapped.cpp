// SPDX-License-Identifier: Apache-2.0
// mmap, munmap and shm_open, in their one place.
#include "base/mapped.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "base/format_error.h"

namespace halyard {

Result<MappedMemory> MappedMemory::create(int fd, std::size_t size, bool writable) {
  if (size == 0) return fail(Errc::invalid_argument, "size: must be at least 1 byte to be mapped");
  const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
  void* address = ::mmap(nullptr, size, protection, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) {
    return fail_os("memory: cannot be mapped", errno, fmt::format("{} bytes", size));
  }
  MappedMemory mapped;
  mapped.bytes_ = {static_cast<std::byte*>(address), size};
  return mapped;
}

MappedMemory::MappedMemory(MappedMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

MappedMemory& MappedMemory::operator=(MappedMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedMemory::~MappedMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

Result<Fd> create_shared_object() {
  static std::atomic<unsigned> counter{0};
  for (int attempt = 0; attempt < 64; ++attempt) {
    const std::string name = fmt::format("/halyard-{}-{}", ::getpid(), counter.fetch_add(1));
    const int fd = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
      ::shm_unlink(name.c_str());
      return Fd(fd);
    }
    if (errno != EEXIST) return fail_os("shared memory: cannot be made", errno);
  }
  return fail(Errc::exists, "shared memory: every name tried is taken");
}

}  // namespace halyard
