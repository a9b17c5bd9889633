// SPDX-License-Identifier: Apache-2.0
// TensorPool: tensors in memory that processes share. TensorHandle: one of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "halyard/export.h"
#include "halyard/frame_layout.h"
#include "halyard/result.h"
#include "halyard/tensor.h"
#include "halyard/tensor_descriptor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// When the bytes of a tensor that is gone are set to zero. A tensor that alloc() gives may hold
/// what an earlier one of this process held, never what another process wrote.
enum class Scrub : std::uint8_t {
  never = 0,
  /// Memory that passes from one process to another is zero. Each process of a pool allocates from
  /// memory of its own, so this costs nothing.
  on_handover = 1,
  /// Memory is zero before it is given out again. A thread of the library does it; alloc() itself
  /// only when there is no clean memory left.
  on_free = 2,
};

struct TensorPoolConfig {
  std::uint64_t pool_size = std::uint64_t{1} << 30;  ///< bytes of all tensors that are alive
  std::uint32_t max_slots = 1024;                    ///< tensors that are alive, 1..1048576
  std::uint32_t slot_alignment = 64;                 ///< of each tensor, a power of two, 64..4096
  /// What alloc_frame() gives, compared where it is set. None: the pool has no frames of its own.
  std::optional<FrameLayout> frame = std::nullopt;
  // What follows is this process's own choice, and not compared with what the pool was made with.
  Scrub scrub = Scrub::on_handover;
  bool prefault = false;  ///< touch memory when it is reserved, so that no frame meets a page fault
  bool lock_memory = false;  ///< keep it in RAM (RLIMIT_MEMLOCK)
  bool huge_pages = false;   ///< ask for transparent huge pages
  /// Bytes that the first alloc() reserves; more are reserved as they are needed. With `prefault`
  /// or `lock_memory` 0 means all of pool_size, else 16 MiB or pool_size.
  std::uint64_t first_bytes = 0;

  static constexpr TensorPoolConfig small() noexcept {
    return {.pool_size = std::uint64_t{64} << 20, .max_slots = 256};
  }
  static constexpr TensorPoolConfig large() noexcept {
    return {.pool_size = std::uint64_t{4} << 30, .max_slots = 4096};
  }
  /// For `count` frames that all processes together hold at a time, 1..1048576. Errors: those of
  /// FrameLayout::check(), invalid_argument (the count, a size beyond 2^62).
  static Result<TensorPoolConfig> for_frames(const FrameLayout& frame, std::uint32_t count);
};

/// Counts over all processes of a pool. Exact when nobody allocates or releases meanwhile.
struct TensorPoolStats {
  std::uint32_t pool_id = 0;
  std::uint32_t max_slots = 0;
  std::uint64_t pool_size = 0;
  std::uint32_t allocated_slots = 0;
  std::uint32_t processes = 0;  ///< that have the pool open
  std::uint64_t total_refcount =
      0;  ///< handles, frames in topics' windows, and borrowing processes
  std::uint64_t used_bytes = 0;
  std::uint64_t free_bytes = 0;       ///< pool_size less used_bytes
  std::uint64_t reserved_bytes = 0;   ///< memory taken from the system
  std::uint64_t peak_used_bytes = 0;  ///< sum of what each process had at most
  std::uint64_t failed_allocations = 0;

  double slot_utilization() const noexcept {
    return max_slots == 0 ? 0 : double(allocated_slots) / double(max_slots);
  }
  double data_utilization() const noexcept {
    return pool_size == 0 ? 0 : double(used_bytes) / double(pool_size);
  }
  /// More than 80 % of the slots or of the bytes are in use.
  bool is_under_pressure() const noexcept {
    return slot_utilization() > 0.8 || data_utilization() > 0.8;
  }
  /// One line for people.
  std::string summary() const;
};

class TensorPool;

/// A tensor in a pool's memory, and a share of it: copies count one more, the last one that goes
/// frees the slot. Writable until it is published, from then on read-only, as are tensors of other
/// processes. Passes for a Tensor wherever one is asked for; slices and views of it are Tensors
/// that share the slot, and may be sent like the whole. Reentrant.
class TensorHandle : public Tensor {
 public:
  /// No tensor.
  TensorHandle() = default;
  /// The same as pool->alloc().
  static Result<TensorHandle> alloc(const std::shared_ptr<TensorPool>& pool,
                                    std::span<const std::size_t> shape, DType dtype,
                                    Device device = Device::cpu());
  static Result<TensorHandle> alloc(const std::shared_ptr<TensorPool>& pool,
                                    std::initializer_list<std::size_t> shape, DType dtype,
                                    Device device = Device::cpu());
  /// A tensor as the handle that it is. Errors: invalid_argument (it is in no pool's memory).
  static Result<TensorHandle> of(const Tensor& tensor);
  /// Whether of() takes the tensor.
  static bool is_handle(const Tensor& tensor) noexcept;

  /// What names the tensor to others. Errors: invalid_argument (no tensor).
  Result<TensorDescriptor> descriptor() const;
  Result<TensorDescriptor> tensor() const { return descriptor(); }
  /// The elements' bytes, from the first to behind the last, valid as long as a handle to the slot
  /// is there. Errors: invalid_argument (no tensor), permission (published, or another process's),
  /// unsupported (a child of fork()).
  Result<std::span<std::byte>> data_slice_mut() const;
  Result<std::span<const std::byte>> data_slice() const;
  /// The same as elements. Errors: also invalid_argument (T is not the dtype).
  template <class T>
  Result<std::span<T>> data_as() const {
    HALYARD_RETURN_IF_ERROR(check_elements(dtype_of<std::remove_const_t<T>>));
    if constexpr (std::is_const_v<T>) {
      HALYARD_TRY(const auto bytes, data_slice());
      return std::span<T>(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
    } else {
      HALYARD_TRY(const auto bytes, data_slice_mut());
      return std::span<T>(reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T));
    }
  }
  Device device() const noexcept { return device_; }
  /// Handles, slices and topics' windows of this process that share the slot.
  std::uint64_t refcount() const noexcept;
  /// Null for no tensor, and for a tensor of a pool that this process has let go of.
  std::shared_ptr<TensorPool> pool() const;

  /// Indices start..end-1 of the first axis, sharing the slot. Errors: invalid_argument.
  Result<TensorHandle> slice_first_dim(std::size_t start, std::size_t end) const;
  /// The same elements under another shape. Errors: invalid_argument (the count differs),
  /// unsupported (gaps between elements).
  Result<TensorHandle> view(std::span<const std::size_t> shape) const;
  Result<TensorHandle> view(std::initializer_list<std::size_t> shape) const {
    return view(std::span<const std::size_t>(shape.begin(), shape.size()));
  }
  /// The axes in another order. Errors: invalid_argument (not each axis once).
  Result<TensorHandle> permute(std::span<const std::size_t> order) const;

 private:
  friend class TensorPool;
  TensorHandle(Tensor tensor, Device device) : Tensor(std::move(tensor)), device_(device) {}
  static Result<TensorHandle> over(std::shared_ptr<Buffer> slot, const Layout& layout,
                                   Device device, std::size_t offset_bytes = 0);
  Status check_elements(std::optional<DType> dtype) const;
  Device device_;
};

/// Memory for tensors that processes share, known by a number. Each process allocates from memory
/// that it alone can write; the others map it read-only. The limits count for all processes
/// together. What a process held is back at once when it ends, however it ends. Files: a folder
/// below /dev/shm/halyard-<uid>, or HALYARD_SHM_DIR (docs/shared-memory.md). Thread-safe. A child
/// of fork() may read tensors that it has; for all else it opens the pool anew.
class TensorPool : public std::enable_shared_from_this<TensorPool> {
 public:
  /// Opens pool `id`, which is made when no process has it. In one process there is one object for
  /// each id. Errors: invalid_argument (naming the limit), exists (it has other limits: the message
  /// says which are wanted and which found), exhausted (64 processes have it open), permission,
  /// timeout (a process that has it open does not answer), os.
  static Result<std::shared_ptr<TensorPool>> create(std::uint32_t id,
                                                    const TensorPoolConfig& config = {});
  /// Opens a pool that a process has open, with the limits that it has. Errors: not_found, those
  /// of create().
  static Result<std::shared_ptr<TensorPool>> open(std::uint32_t id);
  ~TensorPool();
  TensorPool(const TensorPool&) = delete;
  TensorPool& operator=(const TensorPool&) = delete;

  /// A C-contiguous tensor; an empty shape is one element, with shape {1}. Its bytes are what the
  /// slot held before, see Scrub. No system call, unless memory has to be reserved. Errors:
  /// invalid_argument (more than 8 dimensions; an extent of 0; a product beyond 2^63), unsupported
  /// (a device other than the CPU; a child of fork()), exhausted (no slot; no memory; memory in
  /// pieces: the message says which), no_memory (the machine has none).
  Result<TensorHandle> alloc(std::span<const std::size_t> shape, DType dtype,
                             Device device = Device::cpu());
  Result<TensorHandle> alloc(std::initializer_list<std::size_t> shape, DType dtype,
                             Device device = Device::cpu()) {
    return alloc(std::span<const std::size_t>(shape.begin(), shape.size()), dtype, device);
  }
  /// Waits until there is room, at most `timeout`; a release in any process wakes it. Errors: those
  /// of alloc(), timeout instead of exhausted; at once where the pool could never hold the tensor.
  Result<TensorHandle> alloc_for(std::span<const std::size_t> shape, DType dtype, Device device,
                                 std::chrono::nanoseconds timeout);
  /// An image, as Tensor::create_image() lays it out. Errors: those of both.
  Result<TensorHandle> alloc_image(std::size_t width, std::size_t height, PixelFormat format,
                                   DType dtype = DType::u8, std::size_t stride_bytes = 0);

  /// A frame as the pool's configuration says: its image, or its tensor where it has no image. The
  /// same as alloc() otherwise; waits up to `timeout` for room. Errors: those of alloc(),
  /// unsupported (the pool has no frames), timeout.
  Result<TensorHandle> alloc_frame(std::chrono::nanoseconds timeout = {});

  /// The tensor that a descriptor names, in any process of the pool: read-only. Errors: those of
  /// validate().
  Result<TensorHandle> attach(const TensorDescriptor& descriptor);
  /// Errors: invalid_argument (another pool), malformed (a field that no tensor has), not_found
  /// (its tensor is gone: released, or its slot has another one), corrupt (it leaves its slot).
  Status validate(const TensorDescriptor& descriptor);

  /// A tensor without a handle, for programs that count references themselves: alloc() with the
  /// same errors, and one reference, which ends with release(). It costs a third of a handle.
  Result<TensorDescriptor> alloc_slot(std::span<const std::size_t> shape, DType dtype);
  Result<TensorDescriptor> alloc_slot(std::initializer_list<std::size_t> shape, DType dtype) {
    return alloc_slot(std::span<const std::size_t>(shape.begin(), shape.size()), dtype);
  }
  /// A reference more, or less, to a tensor of this process's part of the pool, by somebody who has
  /// one. Errors: invalid_argument (another pool, another process's part: attach() those),
  /// not_found (the tensor is gone: released once too often).
  Status retain(const TensorDescriptor& descriptor);
  Status release(const TensorDescriptor& descriptor);
  /// The bytes of a tensor of this process's part, by somebody who has a reference. Errors: those
  /// of retain(), corrupt (it leaves its slot).
  Result<std::span<std::byte>> bytes(const TensorDescriptor& descriptor);

  TensorPoolStats stats();
  std::uint32_t pool_id() const noexcept;
  const TensorPoolConfig& config() const noexcept;
  /// Whether this object made the pool.
  bool is_owner() const noexcept;

  struct State;

 private:
  friend class TensorHandle;
  explicit TensorPool(std::unique_ptr<State> state);
  /// Null: this process does not have it open.
  static std::shared_ptr<TensorPool> opened(std::uint32_t id);
  Status check_own(const TensorDescriptor& descriptor) const;
  static Result<std::shared_ptr<TensorPool>> find(std::uint32_t id, const TensorPoolConfig* wanted);
  std::unique_ptr<State> state_;
};

/// This process's own pool, with TensorPoolConfig{}: where Image, PointCloud, DepthImage and
/// tensors without a pool are made. No other process allocates from it. Made at the first call.
/// Errors: those of TensorPool::create(). Thread-safe.
Result<std::shared_ptr<TensorPool>> default_pool();

}  // namespace halyard
HALYARD_EXPORTS_END
