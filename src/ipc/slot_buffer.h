// SPDX-License-Identifier: Apache-2.0
// SlotBuffer: a slot of a pool as a Buffer, in the process that owns it and in those that borrow
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/local.h"
#include "halyard/buffer.h"
#include "halyard/tensor.h"
#include "halyard/tensor_descriptor.h"
#include "ipc/node.h"

namespace halyard::ipc {

/// Where slots are: this process's part of a pool, or another process's. Thread-safe.
class HALYARD_LOCAL SlotHome {
 public:
  virtual ~SlotHome() = default;
  /// Ends what a SlotBuffer has of a slot.
  virtual void let_go(std::uint32_t slot) noexcept = 0;
  /// References of this process to a slot.
  virtual std::uint64_t references(std::uint32_t slot) const noexcept = 0;

  struct Identity {
    NodeId node;  ///< of the process that owns the slots
    std::uint64_t arena_id = 0;
    std::uint32_t pool_id = 0;
    std::uint32_t index = 0;  ///< which part of the pool
  };
  const Identity& identity() const noexcept { return identity_; }

 protected:
  explicit SlotHome(const Identity& identity) : identity_(identity) {}
  Identity identity_;
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
  /// Nobody writes the bytes from now on: they are published.
  void publish() noexcept { make_read_only(); }

 private:
  Result<std::span<std::byte>> begin_access(Access) override { return bytes_; }
  void end_access(Access) noexcept override {}

  std::shared_ptr<SlotHome> home_;
  Place place_;
  std::span<std::byte> bytes_;
};

/// The slot that a tensor lies in; null where it lies elsewhere, or in several buffers.
SlotBuffer* slot_of(const Tensor& tensor) noexcept;

/// The fields that say where a tensor is: in `slot`, from its byte `offset` on.
void put_slot(TensorDescriptor& descriptor, const SlotBuffer& slot, std::uint64_t offset) noexcept;
/// What names a tensor that lies in a slot. Errors: unsupported (a negative stride).
Result<TensorDescriptor> describe(const Tensor& tensor, const SlotBuffer& slot);

/// Lays a tensor over a slot as its descriptor says. Errors: those of TensorDescriptor::layout(),
/// corrupt (it leaves the slot).
Result<Tensor> tensor_at(std::shared_ptr<SlotBuffer> slot, const TensorDescriptor& descriptor);

}  // namespace halyard::ipc
