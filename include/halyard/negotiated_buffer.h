// SPDX-License-Identifier: Apache-2.0
// NegotiatedBuffer: the memory that reconcile() describes, as tensors. Its locks keep the CPU and
// the engines from using the bytes at the same time.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/buffer.h"
#include "halyard/export.h"
#include "halyard/fd.h"
#include "halyard/moved.h"
#include "halyard/reconcile.h"
#include "halyard/result.h"
#include "halyard/tensor.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// What prevents writes by parties that may only read.
enum class Enforcement : std::uint8_t {
  none,      ///< nothing is needed: the memory does not leave this process
  advisory,  ///< only the parties themselves: a process that has the descriptor can write
  hard,      ///< the kernel: it refuses to map for writing or to write, whatever the process tries
};
std::string_view to_string(Enforcement enforcement) noexcept;

/// What keeps cache synchronisation correct for engines that use the address without staying
/// attached.
enum class AnchorState : std::uint8_t {
  none,   ///< nothing is needed
  held,   ///< this process keeps the buffer attached to a device
  owner,  ///< the process that made the buffer keeps it attached
};
std::string_view to_string(AnchorState anchor) noexcept;

enum class OperationState : std::uint8_t { none, pending, done, failed };
std::string_view to_string(OperationState state) noexcept;

/// The state of the most recent use of a buffer by an engine.
struct OperationStatus {
  OperationState state = OperationState::none;
  std::chrono::microseconds duration{
      0};                 ///< from begin to end; while pending: until now; at least 1
  std::int32_t code = 0;  ///< the code that fail() received, or the error of the fence
  /// The end of a lock could not hand the bytes over: it is uncertain which bytes devices see.
  bool is_poisoned = false;
};

class NegotiatedBuffer;

/// CPU access to all bytes of a buffer, until unlock() or destruction; keeps the buffer alive.
/// Move-only; belongs to the thread that locked.
class BufferLock {
 public:
  /// Locks nothing.
  BufferLock() noexcept = default;
  BufferLock(BufferLock&& other) noexcept = default;
  BufferLock& operator=(BufferLock&& other) noexcept;
  BufferLock(const BufferLock&) = delete;
  BufferLock& operator=(const BufferLock&) = delete;
  /// Unlocks; a failure is logged.
  ~BufferLock();

  Access access() const noexcept { return access_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Empty when the lock is for reading.
  std::span<std::byte> writable_bytes() const noexcept {
    return can_write(access_) ? bytes_ : std::span<std::byte>{};
  }
  /// Hands the bytes over to engines and ends the lock, also after an error. Errors:
  /// invalid_argument (the lock is over already), permission (the lock belongs to another thread,
  /// or to the process before fork(): the lock stays), os (the device was not notified: the buffer
  /// is poisoned).
  Status unlock();
  /// Hands `size_bytes` bytes from `offset_bytes` on over to engines and keeps the lock. For a
  /// DMA-BUF the kernel synchronises the whole buffer. Errors: invalid_argument (an empty range, or
  /// one beyond the end), permission, os.
  Status sync_range(std::size_t offset_bytes, std::size_t size_bytes);
  /// Keeps the lock without this object, until this thread calls NegotiatedBuffer::unlock().
  void keep() noexcept;

 private:
  friend class NegotiatedBuffer;
  void note_party() noexcept;
  Error is_over(const char* what) const;
  Moved<void*> state_;  ///< valid while somebody holds a lock
  Moved<std::uint64_t> ticket_;
  std::span<std::byte> bytes_;
  Access access_ = Access::read;
  std::array<char, 32> ended_{};  ///< name of the party whose lock it was, shortened
};

/// One use of a buffer by an engine, until finish() or fail(). Destroying it before that counts as
/// fail(ECANCELED). Move-only; may move from thread to thread.
class BufferOperation {
 public:
  BufferOperation(BufferOperation&& other) noexcept = default;
  BufferOperation& operator=(BufferOperation&& other) noexcept;
  BufferOperation(const BufferOperation&) = delete;
  BufferOperation& operator=(const BufferOperation&) = delete;
  ~BufferOperation();

  void finish() noexcept;
  /// `code`: the engine's own error code; status() returns it.
  void fail(std::int32_t code) noexcept;

 private:
  friend class NegotiatedBuffer;
  BufferOperation(std::shared_ptr<void> state, std::uint64_t number) noexcept
      : state_(std::move(state)), number_(number) {}
  std::shared_ptr<void> state_;
  Moved<std::uint64_t> number_ = 0;
};

struct NegotiatedOptions {
  /// The party that this process acts for: its view decides what lock() allows. Empty: lock()
  /// allows every access that some party asked for.
  std::string party{};
  /// Number of buffers; 0: Reconciled::count().
  std::uint32_t count = 0;
  std::string label{};  ///< as AllocateOptions::label
  /// Names under /dev/dma_heap for Heap::dmabuf_system, dmabuf_cma, dmabuf_uncached and
  /// dmabuf_protected. If empty: "system"; "linux,cma", "default_cma_region", "reserved" and "cma";
  /// "linux,cma-uncached", "system-uncached" and "reserved-uncached"; "protected" and "secure".
  std::vector<std::string> system_heaps{}, contiguous_heaps{}, uncached_heaps{}, protected_heaps{};
};

/// A buffer that serves all parties. Copies share it; thread-safe.
///
/// lock() orders the CPU and the engines of this process: many readers or one writer, and none of
/// them while an operation that submit() announced is pending. Processes order their accesses by
/// messages. Maps of tensor() and image() do not wait: use them only where the order is settled
/// already.
class NegotiatedBuffer {
 public:
  /// Uses existing memory for a result: a slot of a pool, a camera's buffer. Errors:
  /// invalid_argument (too small; its start is not a multiple of the alignment), unsupported (a
  /// kind of memory that not all parties can reach), not_found (no party has this name).
  static Result<NegotiatedBuffer> adopt(const Reconciled& result, std::shared_ptr<Buffer> buffer,
                                        const NegotiatedOptions& options = {});

  const Reconciled& attributes() const noexcept { return result_; }
  const std::shared_ptr<Buffer>& buffer() const noexcept;
  Heap heap() const noexcept;  ///< the kind of memory that it was allocated from
  Permission permission() const noexcept;
  /// What lock() allows.
  CpuAccess cpu() const noexcept;
  Enforcement enforcement() const noexcept;
  AnchorState anchor() const noexcept;

  /// The buffer as a tensor and as an image. Errors: unsupported (the parties agreed on none).
  Result<Tensor> tensor() const;
  Result<Tensor> image() const;

  /// Copies all elements of `source` into the buffer's tensor, and reorders the axes if needed.
  /// `source` has the same element type. Its axes are in `order`: [N, C, H, W], [N, H, W, C], or
  /// [N, C/x rounded up, H, W, x] with any x; N includes the axes before it. Padding channels get
  /// pad_value() if a party asks for a padding value, else they keep their bytes. Locks for
  /// writing. Errors: unsupported (there is no tensor), invalid_argument (another type or extents),
  /// those of lock() and Tensor::map().
  Status copy_from(const Tensor& source, AxisOrder order,
                   std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  /// The reverse: copies the buffer's tensor into `destination`, whose padding keeps its bytes.
  /// Locks for reading.
  Status copy_to(Tensor& destination, AxisOrder order,
                 std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));

  /// Waits until no operation is pending and no other lock conflicts, then makes the bytes ready
  /// for the CPU. Allocates nothing. For memory that needs no cache synchronisation it makes system
  /// calls only to wait. A negative timeout: waits for ever. Errors: unsupported (the policy is
  /// unmapped), permission (more access than the party asked for or was granted), busy (this thread
  /// holds a lock already), timeout, exhausted (64 threads hold locks), os, those of Buffer::map().
  Result<BufferLock> lock(Access access,
                          std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  /// Ends the lock that this thread kept with BufferLock::keep(). Errors: invalid_argument (nobody
  /// holds a lock), permission (only other threads hold locks), os.
  Status unlock();

  /// Tells that an engine begins to use the buffer. Errors: busy (locked, or an operation is
  /// pending).
  Result<BufferOperation> submit();
  /// As above; the operation ends when `fence` becomes readable (POLLIN): a sync_file of the
  /// kernel, an eventfd. Errors: also invalid_argument (an empty descriptor).
  Status submit(Fd fence);
  /// Waits at most `timeout` for the end of the latest operation. 0: does not wait; negative: waits
  /// for ever. Errors: timeout.
  Result<OperationStatus> status(std::chrono::nanoseconds timeout) const;

  struct State;

 private:
  friend struct State;
  NegotiatedBuffer(std::shared_ptr<State> state, const Reconciled& result) noexcept
      : state_(std::move(state)), result_(result) {}
  std::shared_ptr<State> state_;
  Reconciled result_;
};

/// Allocates the buffers of a result separately: each from the first kind of memory in
/// Reconciled::heaps() that is available here. The bytes are zero, or the padding value where there
/// is one. Errors: not_found (no party has this name), unsupported and permission (no heap is
/// available: the message has the reason for each), exhausted (more buffers than the parties
/// allow), no_memory, os.
Result<std::vector<NegotiatedBuffer>> allocate_negotiated(const Reconciled& result,
                                                          const NegotiatedOptions& options = {});

/// Phases of a program that must not allocate while it runs.
enum class ModulePhase : std::uint8_t { init, run, deinit };
std::string_view to_string(ModulePhase phase) noexcept;

/// Makes all buffers of a program before seal(), and none after it. Thread-safe.
class BufferModule {
 public:
  BufferModule();
  BufferModule(const BufferModule&) = delete;
  BufferModule& operator=(const BufferModule&) = delete;
  ~BufferModule();

  /// As allocate_negotiated() and NegotiatedBuffer::adopt(). Errors: also permission (the module is
  /// sealed).
  Result<std::vector<NegotiatedBuffer>> allocate(const Reconciled& result,
                                                 const NegotiatedOptions& options = {});
  Result<NegotiatedBuffer> adopt(const Reconciled& result, std::shared_ptr<Buffer> buffer,
                                 const NegotiatedOptions& options = {});
  /// Adds the buffer that `make` returns, for example that of import_buffer().
  Result<NegotiatedBuffer> add(const std::function<Result<NegotiatedBuffer>()>& make);
  /// Changes the phase from init to run: from now on nothing is made. Errors: permission (the phase
  /// is not init).
  Status seal();
  /// Changes the phase from init or run to deinit: buffers may be destroyed. Errors: permission
  /// (the phase is deinit already).
  Status begin_deinit();
  ModulePhase phase() const noexcept;
  /// Number of buffers that were made here and still exist.
  std::size_t live_buffers() const noexcept;

 private:
  struct Ledger;
  std::shared_ptr<Ledger> ledger_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
