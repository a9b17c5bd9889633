// SPDX-License-Identifier: Apache-2.0
// Memory of slot buffers, and the conversion between tensors in slots and descriptors.
#include "ipc/pool/slot_buffer.h"

#include <mutex>
#include <new>
#include <utility>

#include "base/text/format_error.h"

namespace halyard::ipc {
namespace {

// Without spare blocks AddressSanitizer sees the use of a released block.
#ifdef __SANITIZE_ADDRESS__
constexpr bool keeps_blocks = false;
#else
constexpr bool keeps_blocks = true;
#endif

// For std::allocate_shared(), which allocates one block for the object and its counts.
template <class T>
struct BlockAllocator {
  using value_type = T;
  explicit BlockAllocator(BufferBlocks& from) noexcept : blocks(&from) {}
  template <class U>
  BlockAllocator(const BlockAllocator<U>& other) noexcept : blocks(other.blocks) {}
  T* allocate(std::size_t count) { return static_cast<T*>(blocks->take(count * sizeof(T))); }
  void deallocate(T* block, std::size_t) noexcept { blocks->give(block); }
  template <class U>
  bool operator==(const BlockAllocator<U>& other) const noexcept {
    return blocks == other.blocks;
  }
  BufferBlocks* blocks;
};

}  // namespace

[[gnu::hot]] void* BufferBlocks::take(std::size_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (Spare* const first = spare_; first != nullptr) {
      spare_ = first->next;
      --spares_;
      ++taken_;
      return first;
    }
  }
  void* const block = ::operator new(bytes);
  const std::lock_guard lock(mutex_);
  ++taken_;
  return block;
}

[[gnu::hot]] void BufferBlocks::give(void* block) noexcept {
  // In a child of fork() another thread may have held the lock at the time of fork().
  const bool is_child = process_ != fork_generation();
  bool is_last = false;
  if (!is_child) {
    const std::lock_guard lock(mutex_);
    --taken_;
    is_last = is_closed_ && taken_ == 0;
    if (keeps_blocks && !is_closed_ && spares_ < max_spare) {
      spare_ = new (block) Spare{spare_};
      ++spares_;
      return;
    }
  }
  ::operator delete(block);
  if (is_last) delete this;
}

void BufferBlocks::close() noexcept {
  if (process_ != fork_generation()) return;
  Spare* spare = nullptr;
  bool is_last = false;
  {
    const std::lock_guard lock(mutex_);
    spare = std::exchange(spare_, nullptr);
    is_closed_ = true;
    is_last = taken_ == 0;
  }
  while (spare != nullptr)
    ::operator delete(std::exchange(spare, spare->next));
  if (is_last) delete this;
}

[[gnu::hot]] std::shared_ptr<SlotBuffer> SlotBuffer::make(std::shared_ptr<SlotHome> home,
                                                          const Place& place,
                                                          std::span<std::byte> bytes,
                                                          bool writable) {
  const BlockAllocator<SlotBuffer> blocks(home->blocks());
  return std::allocate_shared<SlotBuffer>(blocks, std::move(home), place, bytes, writable);
}

Result<TensorDescriptor> describe(const Tensor& tensor, const SlotBuffer& slot) {
  HALYARD_TRY(TensorDescriptor descriptor, TensorDescriptor::of_layout(tensor.layout()));
  put_slot(descriptor, slot, tensor.offset_bytes());
  if (!slot.is_writable()) descriptor.flags |= TensorDescriptor::read_only_flag;
  return descriptor;
}

Result<Tensor> tensor_at(std::shared_ptr<SlotBuffer> slot, const TensorDescriptor& descriptor) {
  HALYARD_TRY(const Layout layout, descriptor.layout());
  const SlotBuffer::Place& place = slot->place();
  const std::uint64_t begin = descriptor.offset;
  const bool is_inside = begin >= place.offset && begin - place.offset <= slot->size_bytes() &&
                         descriptor.size <= slot->size_bytes() - (begin - place.offset);
  if (!is_inside) {
    return fail(Errc::corrupt, "descriptor: exceeds its slot",
                "offset {} size {}, the slot has {} bytes from {} on", begin, descriptor.size,
                slot->size_bytes(), place.offset);
  }
  return Tensor::wrap(std::move(slot), layout, begin - place.offset);
}

}  // namespace halyard::ipc
