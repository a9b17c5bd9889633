// SPDX-License-Identifier: Apache-2.0
// Shared memory that another party made: mapped once. If it may shrink, every map checks its size.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/system/mapped.h"
#include "base/text/format_error.h"
#include "halyard/fd.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

class ImportedMemory final : public Buffer {
 public:
  ImportedMemory(Fd fd, MappedMemory mapped, bool writable, bool may_shrink) noexcept
      : Buffer(mapped.bytes().size(), Memory::shm, writable),
        fd_(std::move(fd)),
        mapped_(std::move(mapped)),
        may_shrink_(may_shrink) {
    set_address(mapped_.bytes().data());
  }
  ~ImportedMemory() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    if (may_shrink_) HALYARD_RETURN_IF_ERROR(check_size());
    return mapped_.bytes();
  }
  void end_access(Access) noexcept override {}

  // Bytes after the end of a shrunk object raise SIGBUS, so they are not handed out. Shrinking
  // between two maps is detected here; during a map only a seal helps.
  Status check_size() const {
    struct stat status = {};
    if (::fstat(fd_.get(), &status) != 0) return fail_os("memory: cannot be examined", errno);
    if (static_cast<std::size_t>(status.st_size) >= size_bytes()) return {};
    return fail(Errc::corrupt, "memory: has been shrunk by its owner",
                "{} bytes were imported, {} are left", size_bytes(), status.st_size);
  }

  Fd fd_;
  MappedMemory mapped_;
  bool may_shrink_;
};

// Before Linux 6.7, memory sealed against writing could not be mapped through a writable
// descriptor, not even for reading. A read-only descriptor works on all kernels.
Fd reopen_for_reading(int fd) {
  return Fd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY | O_CLOEXEC));
}

}  // namespace

Result<std::shared_ptr<Buffer>> adopt_shared_memory(Fd fd, std::size_t size_bytes, bool writable,
                                                    bool may_shrink) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  Fd readable;
  if (!writable && (flags & O_ACCMODE) == O_RDWR) readable = reopen_for_reading(fd.get());
  HALYARD_TRY(MappedMemory mapped,
              MappedMemory::create(readable ? readable.get() : fd.get(), size_bytes, writable));
  return std::shared_ptr<Buffer>(
      std::make_shared<ImportedMemory>(std::move(fd), std::move(mapped), writable, may_shrink));
}

}  // namespace halyard
