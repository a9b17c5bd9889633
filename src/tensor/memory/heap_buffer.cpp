// SPDX-License-Identifier: Apache-2.0
// Heap memory from calloc, which returns the kernel's zero pages without writing them.
#include <cstdint>
#include <cstdlib>

#include "base/checked.h"
#include "base/text/format_error.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

struct Free {
  void operator()(void* p) const noexcept { std::free(p); }
};

class HeapBuffer final : public Buffer {
 public:
  HeapBuffer(std::unique_ptr<void, Free> block, std::byte* data, std::size_t size) noexcept
      : Buffer(size, Memory::mem), block_(std::move(block)), data_(data) {
    set_address(data);
  }
  ~HeapBuffer() override { release_attachments(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override {
    return std::span<std::byte>(data_, size_bytes());
  }
  void end_access(Access) noexcept override {}

  std::unique_ptr<void, Free> block_;
  std::byte* data_;
};

}  // namespace

Result<std::shared_ptr<Buffer>> make_heap_buffer(std::size_t size_bytes, std::size_t align_bytes) {
  const auto padded = checked_add(size_bytes, align_bytes);
  std::unique_ptr<void, Free> block(padded ? std::calloc(1, *padded) : nullptr);
  if (!block) return fail(Errc::no_memory, "memory: not enough heap", "{} bytes", size_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(block.get());
  const std::size_t skip = (align_bytes - address % align_bytes) % align_bytes;
  auto* data = static_cast<std::byte*>(block.get()) + skip;
  return std::shared_ptr<Buffer>(std::make_shared<HeapBuffer>(std::move(block), data, size_bytes));
}

}  // namespace halyard
