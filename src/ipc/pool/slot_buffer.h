// SPDX-License-Identifier: Apache-2.0
// SlotBuffer: a slot of a pool as a Buffer, in the process that owns it and in processes that
// borrow it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <typeinfo>

#include "base/local.h"
#include "base/system/ranked_mutex.h"
#include "halyard/buffer.h"
#include "halyard/tensor.h"
#include "halyard/tensor_descriptor.h"
#include "halyard/threads.h"
#include "ipc/node/node.h"
#include "ipc/node/short_lock.h"

namespace halyard::ipc {

/// The memory of released slot buffers, kept for the next ones of the same home: memory from
/// malloc() is cold after a frame has passed through the caches. All blocks have one size. Thread-
/// safe. After it is closed, it is deleted with the last block.
class HALYARD_LOCAL BufferBlocks {
 public:
  struct Close {
    void operator()(BufferBlocks* blocks) const noexcept { blocks->close(); }
  };
  static std::unique_ptr<BufferBlocks, Close> create() {
    return std::unique_ptr<BufferBlocks, Close>(new BufferBlocks);
  }
  void* take(std::size_t bytes);
  void give(void* block) noexcept;

 private:
  static constexpr std::uint32_t max_spare = 64;
  struct Spare {
    Spare* next;
  };
  BufferBlocks() = default;
  ~BufferBlocks() = default;
  void close() noexcept;

  std::uint32_t process_ = fork_generation();
  RankedMutex<LockRank::leaf, ShortLock> mutex_;  ///< protects all below
  Spare* spare_ = nullptr;
  std::uint32_t spares_ = 0;
  std::uint32_t taken_ = 0;
  bool is_closed_ = false;
};

/// The owner of slots: this process's part of a pool, or another process's. Thread-safe.
class HALYARD_LOCAL SlotHome {
 public:
  virtual ~SlotHome() = default;
  /// Releases the reference that a SlotBuffer has to a slot.
  virtual void let_go(std::uint32_t slot) noexcept = 0;
  /// References of this process to a slot.
  virtual std::uint64_t references(std::uint32_t slot) const noexcept = 0;

  struct Identity {
    NodeId node;  ///< the process that owns the slots
    std::uint64_t arena_id = 0;
    std::uint32_t pool_id = 0;
    std::uint32_t index = 0;  ///< the part of the pool
  };
  const Identity& identity() const noexcept { return identity_; }
  BufferBlocks& blocks() const noexcept { return *blocks_; }

 protected:
  explicit SlotHome(const Identity& identity) : identity_(identity) {}
  Identity identity_;

 private:
  std::unique_ptr<BufferBlocks, BufferBlocks::Close> blocks_ = BufferBlocks::create();
};

/// Thread-safe, as all buffers.
class HALYARD_LOCAL SlotBuffer final : public Buffer {
 public:
  struct Place {
    std::uint32_t slot = 0;
    std::uint64_t generation = 0;
    std::uint64_t offset = 0;  ///< in its home's memory
  };
  /// Takes over one reference to the slot.
  static std::shared_ptr<SlotBuffer> make(std::shared_ptr<SlotHome> home, const Place& place,
                                          std::span<std::byte> bytes, bool writable);
  /// For make().
  SlotBuffer(std::shared_ptr<SlotHome> home, const Place& place, std::span<std::byte> bytes,
             bool writable) noexcept
      : Buffer(bytes.size(), Memory::shm, writable),
        home_(std::move(home)),
        place_(place),
        bytes_(bytes) {
    set_address(bytes.data());
  }
  ~SlotBuffer() override {
    release_attachments();
    home_->let_go(place_.slot);
  }

  const std::shared_ptr<SlotHome>& home() const noexcept { return home_; }
  const Place& place() const noexcept { return place_; }
  std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Makes the bytes read-only: they are published and nobody writes them any more.
  void publish() noexcept { make_read_only(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return bytes_; }
  void end_access(Access) noexcept override {}

  std::shared_ptr<SlotHome> home_;
  Place place_;
  std::span<std::byte> bytes_;
};

/// The slot that a tensor lies in; null if it lies elsewhere, or in several buffers.
inline SlotBuffer* slot_of(const Tensor& tensor) noexcept {
  Buffer* const buffer = tensor.buffer().get();
  if (buffer == nullptr || !tensor.is_in_one_buffer()) return nullptr;
  // Cheaper than dynamic_cast and equivalent: no class derives from SlotBuffer, and only this
  // library has the type.
  return &typeid(*buffer) == &typeid(SlotBuffer) ? static_cast<SlotBuffer*>(buffer) : nullptr;
}

/// Sets the fields that locate a tensor: in `slot`, from its byte `offset` on.
inline void put_slot(TensorDescriptor& descriptor, const SlotBuffer& slot,
                     std::uint64_t offset) noexcept {
  const SlotHome::Identity& home = slot.home()->identity();
  const SlotBuffer::Place& place = slot.place();
  descriptor.pool_id = home.pool_id;
  descriptor.slot_id = home.index << 24U | place.slot;
  descriptor.set_generation(place.generation);
  descriptor.offset = place.offset + offset;
}
/// The descriptor of a tensor that lies in a slot. Errors: unsupported (a negative stride).
Result<TensorDescriptor> describe(const Tensor& tensor, const SlotBuffer& slot);

/// The tensor in a slot that a descriptor describes. Errors: those of TensorDescriptor::layout(),
/// corrupt (it exceeds the slot).
Result<Tensor> tensor_at(std::shared_ptr<SlotBuffer> slot, const TensorDescriptor& descriptor);

}  // namespace halyard::ipc
