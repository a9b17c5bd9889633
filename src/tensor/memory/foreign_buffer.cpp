// SPDX-License-Identifier: Apache-2.0
// Memory that another party owns: a caller's pointer with a release function.
#include <cstdint>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "halyard/buffer.h"

namespace halyard {
namespace {

class ForeignBuffer final : public Buffer {
 public:
  ForeignBuffer(std::byte* data, std::size_t size, bool writable,
                std::function<void()> release) noexcept
      : Buffer(size, Memory::mem, writable), data_(data), release_(std::move(release)) {
    set_address(data);
  }
  ~ForeignBuffer() override {
    release_attachments();
    if (release_) release_();
  }

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    return std::span<std::byte>(data_, size_bytes());
  }
  void end_access(Access) noexcept override {}

  std::byte* data_;
  std::function<void()> release_;
};

Result<std::shared_ptr<Buffer>> make(std::byte* data, std::size_t size, bool writable,
                                     std::function<void()> release) {
  if (data == nullptr && size != 0) {
    return fail(Errc::invalid_argument, "data: is null", "with a size of {} bytes", size);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (size > static_cast<std::size_t>(PTRDIFF_MAX) || !checked_add(address, size)) {
    return fail(Errc::invalid_argument, "size: reaches beyond the address space", "{} bytes", size);
  }
  return std::shared_ptr<Buffer>(
      std::make_shared<ForeignBuffer>(data, size, writable, std::move(release)));
}

}  // namespace

Result<std::shared_ptr<Buffer>> wrap_memory(void* data, std::size_t size_bytes,
                                            std::function<void()> release) {
  return make(static_cast<std::byte*>(data), size_bytes, true, std::move(release));
}

Result<std::shared_ptr<Buffer>> wrap_memory(const void* data, std::size_t size_bytes,
                                            std::function<void()> release) {
  // The buffer is marked read-only, so map() never hands out this pointer for writing.
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(data));
  return make(bytes, size_bytes, false, std::move(release));
}

}  // namespace halyard
