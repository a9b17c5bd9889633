// SPDX-License-Identifier: Apache-2.0
// TensorPool: tensors in memory that processes share. TensorHandle: one such tensor.
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

/// When the bytes of a released tensor are set to zero. A tensor from alloc() may hold bytes of an
/// earlier tensor of this process, but never bytes that another process wrote.
enum class Scrub : std::uint8_t {
  never = 0,
  /// Memory is zero when it passes from one process to another. Each process of a pool allocates
  /// from memory of its own, so this costs nothing.
  on_handover = 1,
  /// Memory is zero before it is allocated again. A thread of the library clears it; alloc() clears
  /// only if there is no clean memory left.
  on_free = 2,
};

struct TensorPoolConfig {
  std::uint64_t pool_size = std::uint64_t{1} << 30;  ///< maximum bytes of all live tensors
  std::uint32_t max_slots = 1024;                    ///< maximum count of live tensors, 1..1048576
  std::uint32_t slot_alignment = 64;                 ///< of each tensor, a power of two, 64..4096
  /// What alloc_frame() allocates; compared where it is set. nullopt: the pool has no frames of its
  /// own.
  std::optional<FrameLayout> frame = std::nullopt;
  // The members below are this process's own choice. They are not compared with those of the pool.
  Scrub scrub = Scrub::on_handover;
  bool prefault = false;     ///< touch memory when it is reserved: no frame waits for page faults
  bool lock_memory = false;  ///< keep it in RAM (RLIMIT_MEMLOCK)
  bool huge_pages = false;   ///< ask for transparent huge pages
  /// Bytes that the first alloc() reserves; more are reserved when needed. 0 means all of pool_size
  /// with `prefault` or `lock_memory`, else the smaller of 16 MiB and pool_size.
  std::uint64_t first_bytes = 0;

  static constexpr TensorPoolConfig small() noexcept {
    return {.pool_size = std::uint64_t{64} << 20, .max_slots = 256};
  }
  static constexpr TensorPoolConfig large() noexcept {
    return {.pool_size = std::uint64_t{4} << 30, .max_slots = 4096};
  }
  /// For `count` frames that all processes together hold at one time, 1..1048576. Errors: those of
  /// FrameLayout::check(), invalid_argument (the count, a size beyond 2^62).
  static Result<TensorPoolConfig> for_frames(const FrameLayout& frame, std::uint32_t count);
};

/// Counts over all processes of a pool. Exact if nobody allocates or releases during the call.
struct TensorPoolStats {
  std::uint32_t pool_id = 0;
  std::uint32_t max_slots = 0;
  std::uint64_t pool_size = 0;
  std::uint32_t allocated_slots = 0;
  std::uint32_t processes = 0;  ///< number of processes that have the pool open
  std::uint64_t total_refcount =
      0;  ///< handles, frames in topics' windows, and borrowing processes
  std::uint64_t used_bytes = 0;
  std::uint64_t free_bytes = 0;       ///< pool_size minus used_bytes
  std::uint64_t reserved_bytes = 0;   ///< memory taken from the system
  std::uint64_t peak_used_bytes = 0;  ///< sum of each process's maximum
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

/// A tensor in a pool's memory, and a reference to its slot: each copy holds one more reference,
/// and the release of the last one frees the slot. Writable until it is published, then read-only.
/// Tensors of other processes are read-only too. It can be passed as a Tensor. Slices and views of
/// it are Tensors that share the slot, and can be sent like the whole tensor. Reentrant.
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
  /// The handle of a tensor. Errors: invalid_argument (it is not in a pool's memory).
  static Result<TensorHandle> of(const Tensor& tensor);
  /// Whether of() accepts the tensor.
  static bool is_handle(const Tensor& tensor) noexcept;

  /// The name of the tensor for other processes. Errors: invalid_argument (no tensor).
  Result<TensorDescriptor> descriptor() const;
  Result<TensorDescriptor> tensor() const { return descriptor(); }
  /// The elements' bytes, from the first to behind the last, valid as long as a handle to the slot
  /// exists. Errors: invalid_argument (no tensor), permission (published, or a tensor of another
  /// process), unsupported (a child of fork()).
  Result<std::span<std::byte>> data_slice_mut() const;
  Result<std::span<const std::byte>> data_slice() const;
  /// As above, as elements. Errors: also invalid_argument (T is not the dtype).
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
  /// Number of handles, slices and topics' windows of this process that share the slot.
  std::uint64_t refcount() const noexcept;
  /// Null if there is no tensor, or if this process has closed the tensor's pool.
  std::shared_ptr<TensorPool> pool() const;

  /// Indices start..end-1 of the first axis, sharing the slot. Errors: invalid_argument.
  Result<TensorHandle> slice_first_dim(std::size_t start, std::size_t end) const;
  /// The same elements under another shape. Errors: invalid_argument (the count differs),
  /// unsupported (gaps between elements).
  Result<TensorHandle> view(std::span<const std::size_t> shape) const;
  Result<TensorHandle> view(std::initializer_list<std::size_t> shape) const {
    return view(std::span<const std::size_t>(shape.begin(), shape.size()));
  }
  /// The same elements with the axes in another order. Errors: invalid_argument (not each axis
  /// once).
  Result<TensorHandle> permute(std::span<const std::size_t> order) const;

 private:
  friend class TensorPool;
  TensorHandle(Tensor tensor, Device device) : Tensor(std::move(tensor)), device_(device) {}
  static Result<TensorHandle> over(std::shared_ptr<Buffer> slot, const Layout& layout,
                                   Device device, std::size_t offset_bytes = 0);
  Status check_elements(std::optional<DType> dtype) const;
  Device device_;
};

/// Memory for tensors that processes share, identified by a number. Each process allocates from
/// memory that only it can write; the other processes map it read-only. The limits count for all
/// processes together. When a process ends, in whatever way, its memory returns to the pool at
/// once. Files: a folder below /dev/shm/halyard-<uid>, or HALYARD_SHM_DIR (docs/shared-memory.md).
/// Thread-safe. A child of fork() may read tensors that it holds; for everything else it must open
/// the pool again.
class TensorPool : public std::enable_shared_from_this<TensorPool> {
 public:
  /// Opens pool `id`, and makes it if no process has it open. A process has one object for each id.
  /// Errors: invalid_argument (naming the limit), exists (the pool has other limits: the message
  /// has the limits wanted and found), exhausted (64 processes have it open), permission, timeout
  /// (a process that has it open does not answer), os.
  static Result<std::shared_ptr<TensorPool>> create(std::uint32_t id,
                                                    const TensorPoolConfig& config = {});
  /// Opens a pool that a process has open, with the limits of that pool. Errors: not_found, those
  /// of create().
  static Result<std::shared_ptr<TensorPool>> open(std::uint32_t id);
  ~TensorPool();
  TensorPool(const TensorPool&) = delete;
  TensorPool& operator=(const TensorPool&) = delete;

  /// Allocates a C-contiguous tensor; an empty shape means one element, with shape {1}. The bytes
  /// are what the slot held before, see Scrub. Makes no system call unless memory must be reserved.
  /// Errors: invalid_argument (more than 8 dimensions; an extent of 0; a product beyond 2^63),
  /// unsupported (a device other than the CPU; a child of fork()), exhausted (no slot; no memory;
  /// fragmented memory: the message names which), no_memory (the machine has none).
  Result<TensorHandle> alloc(std::span<const std::size_t> shape, DType dtype,
                             Device device = Device::cpu());
  Result<TensorHandle> alloc(std::initializer_list<std::size_t> shape, DType dtype,
                             Device device = Device::cpu()) {
    return alloc(std::span<const std::size_t>(shape.begin(), shape.size()), dtype, device);
  }
  /// As alloc(), but waits for free memory, at most `timeout`; a release in any process wakes it.
  /// Errors: those of alloc(), but timeout instead of exhausted. Fails at once if the pool can
  /// never hold the tensor.
  Result<TensorHandle> alloc_for(std::span<const std::size_t> shape, DType dtype, Device device,
                                 std::chrono::nanoseconds timeout);
  /// Allocates an image with the layout of Tensor::create_image(). Errors: those of both.
  Result<TensorHandle> alloc_image(std::size_t width, std::size_t height, PixelFormat format,
                                   DType dtype = DType::u8, std::size_t stride_bytes = 0);

  /// Allocates a frame of the pool's configuration: its image, or its tensor if it has no image.
  /// Waits up to `timeout` for free memory; otherwise as alloc(). Errors: those of alloc(),
  /// unsupported (the pool has no frames), timeout.
  Result<TensorHandle> alloc_frame(std::chrono::nanoseconds timeout = {});

  /// The tensor that a descriptor names, in any process of the pool; it is read-only. Errors: those
  /// of validate().
  Result<TensorHandle> attach(const TensorDescriptor& descriptor);
  /// Checks a descriptor. Errors: invalid_argument (another pool), malformed (a field that no
  /// tensor has), not_found (its tensor is released, or its slot holds another one), corrupt (it
  /// leaves its slot).
  Status validate(const TensorDescriptor& descriptor);

  /// Allocates a tensor without a handle, for programs that count references themselves. The tensor
  /// has one reference, which release() returns. Costs a third of a handle. Errors: those of
  /// alloc().
  Result<TensorDescriptor> alloc_slot(std::span<const std::size_t> shape, DType dtype);
  Result<TensorDescriptor> alloc_slot(std::initializer_list<std::size_t> shape, DType dtype) {
    return alloc_slot(std::span<const std::size_t>(shape.begin(), shape.size()), dtype);
  }
  /// Adds or removes a reference to a tensor in this process's part of the pool. The caller must
  /// hold a reference. Errors: invalid_argument (another pool, another process's part: use
  /// attach()), not_found (the tensor is gone: it was released once too often).
  Status retain(const TensorDescriptor& descriptor);
  Status release(const TensorDescriptor& descriptor);
  /// The bytes of a tensor in this process's part. The caller must hold a reference. Errors: those
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
  /// Null: this process does not have the pool open.
  static std::shared_ptr<TensorPool> opened(std::uint32_t id);
  Status check_own(const TensorDescriptor& descriptor) const;
  static Result<std::shared_ptr<TensorPool>> find(std::uint32_t id, const TensorPoolConfig* wanted);
  std::unique_ptr<State> state_;
};

/// This process's own pool, with TensorPoolConfig{}. Image, PointCloud, DepthImage and tensors
/// without a pool use it. No other process allocates from it. Made at the first call. Errors: those
/// of TensorPool::create(). Thread-safe.
Result<std::shared_ptr<TensorPool>> default_pool();

}  // namespace halyard
HALYARD_EXPORTS_END
