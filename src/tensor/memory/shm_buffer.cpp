// SPDX-License-Identifier: Apache-2.0
// Memory that is shared without a device: a sealed memfd, or an unlinked POSIX object if the kernel
// has no memfd.
#include "base/system/mapped.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

class ShmBuffer final : public Buffer {
 public:
  ShmBuffer(Fd fd, MappedMemory mapped, std::size_t size) noexcept
      : Buffer(size, Memory::shm), fd_(std::move(fd)), mapped_(std::move(mapped)) {
    set_address(mapped_.bytes().data());
  }
  ~ShmBuffer() override { release_attachments(); }
  int fd() const noexcept override { return fd_.get(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return mapped_.bytes(); }
  void end_access(Access) noexcept override {}

  Fd fd_;
  MappedMemory mapped_;
};

Result<std::shared_ptr<Buffer>> map_whole(Fd fd, std::size_t size_bytes) {
  HALYARD_TRY(MappedMemory mapped, MappedMemory::create(fd.get(), size_bytes, true));
  return std::shared_ptr<Buffer>(
      std::make_shared<ShmBuffer>(std::move(fd), std::move(mapped), size_bytes));
}

}  // namespace

Result<std::shared_ptr<Buffer>> make_shm_buffer(std::size_t size_bytes, std::string_view label) {
  auto fd = create_sealed_memory(label.empty() ? "halyard" : label, size_bytes);
  if (!fd && fd.error().os_errno == ENOSYS) return make_posix_shm_buffer(size_bytes);
  if (!fd) return fd.error();
  return map_whole(*std::move(fd), size_bytes);
}

Result<std::shared_ptr<Buffer>> make_own_shm_buffer(std::size_t size_bytes,
                                                    std::string_view label) {
  HALYARD_TRY(OwnMemory own, create_own_memory(label.empty() ? "halyard" : label, size_bytes));
  return std::shared_ptr<Buffer>(
      std::make_shared<ShmBuffer>(std::move(own.fd), std::move(own.mapped), size_bytes));
}

Result<std::shared_ptr<Buffer>> make_posix_shm_buffer(std::size_t size_bytes) {
  HALYARD_TRY(Fd fd, create_shared_object());
  HALYARD_RETURN_IF_ERROR(reserve_memory(fd.get(), 0, size_bytes));
  return map_whole(std::move(fd), size_bytes);
}

}  // namespace halyard
