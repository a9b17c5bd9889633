// SPDX-License-Identifier: Apache-2.0
// NegotiatedBuffer: memory for what reconcile() found, as tensors, with CPU access in turn with
// engines.
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

/// What keeps parties from writing that may only read.
enum class Enforcement : std::uint8_t {
  none,      ///< nothing is needed: the memory does not leave this process
  advisory,  ///< their own good will: a process with the descriptor can write
  hard,      ///< the kernel: it refuses to map or write, whatever the process tries
};
std::string_view to_string(Enforcement enforcement) noexcept;

/// What keeps synchronising right for engines that take the address and let go.
enum class AnchorState : std::uint8_t {
  none,   ///< nothing is needed
  held,   ///< this process keeps the buffer attached to a device
  owner,  ///< the process that made it does
};
std::string_view to_string(AnchorState anchor) noexcept;

enum class OperationState : std::uint8_t { none, pending, done, failed };
std::string_view to_string(OperationState state) noexcept;

/// How the latest use of a buffer by an engine stands.
struct OperationStatus {
  OperationState state = OperationState::none;
  std::chrono::microseconds duration{0};  ///< of it whole; while pending: until now; at least 1
  std::int32_t code = 0;                  ///< what fail() was given, or the fence's error
  /// A lock's end could not hand the bytes over: what devices see is not certain any more.
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
  /// Hands the bytes over to engines; the lock is over, also after an error. Errors:
  /// invalid_argument (not locked any more), permission (of another thread, of the process before
  /// fork(): the lock stays), os (the device was not told: the buffer is poisoned).
  Status unlock();
  /// Hands `size_bytes` from `offset_bytes` on over and goes on; of DMA-BUFs the kernel takes the
  /// whole buffer. Errors: invalid_argument (empty, or beyond the end), permission, os.
  Status sync_range(std::size_t offset_bytes, std::size_t size_bytes);
  /// Lets the lock stay without this object, until NegotiatedBuffer::unlock() on this thread.
  void keep() noexcept;

 private:
  friend class NegotiatedBuffer;
  void note_party() noexcept;
  Error is_over(const char* what) const;
  Moved<void*> state_;  ///< lives as long as somebody holds a lock
  Moved<std::uint64_t> ticket_;
  std::span<std::byte> bytes_;
  Access access_ = Access::read;
  std::array<char, 32> ended_{};  ///< whose lock it was, in short
};

/// One use of a buffer by an engine, until finish() or fail(). Destroying it before counts as
/// fail(ECANCELED). Move-only; may go from thread to thread.
class BufferOperation {
 public:
  BufferOperation(BufferOperation&& other) noexcept = default;
  BufferOperation& operator=(BufferOperation&& other) noexcept;
  BufferOperation(const BufferOperation&) = delete;
  BufferOperation& operator=(const BufferOperation&) = delete;
  ~BufferOperation();

  void finish() noexcept;
  /// `code`: the engine's own, shown by status().
  void fail(std::int32_t code) noexcept;

 private:
  friend class NegotiatedBuffer;
  BufferOperation(std::shared_ptr<void> state, std::uint64_t number) noexcept
      : state_(std::move(state)), number_(number) {}
  std::shared_ptr<void> state_;
  Moved<std::uint64_t> number_ = 0;
};

struct NegotiatedOptions {
  /// The party that this process speaks for: its view says what lock() allows. Empty: all that
  /// some party asked for.
  std::string party{};
  /// How many buffers; 0: Reconciled::count().
  std::uint32_t count = 0;
  std::string label{};  ///< as AllocateOptions::label
  /// Names under /dev/dma_heap for Heap::dmabuf_system, dmabuf_cma, dmabuf_uncached and
  /// dmabuf_protected; empty: "system"; "linux,cma", "default_cma_region", "reserved" and "cma";
  /// "linux,cma-uncached", "system-uncached" and "reserved-uncached"; "protected", "secure".
  std::vector<std::string> system_heaps{}, contiguous_heaps{}, uncached_heaps{}, protected_heaps{};
};

/// A buffer that serves everybody. Copies share it; thread-safe.
///
/// lock() orders the CPU and the engines of this process: many readers, one writer, and neither
/// beside an operation that was told by submit(). Other processes are ordered by messages, and maps
/// of tensor() and image() do not wait: they are for whom the order is settled already.
class NegotiatedBuffer {
 public:
  /// Lays a result over memory that exists: a slot of a pool, a camera's buffer. Errors:
  /// invalid_argument (too small, begins at no multiple of the alignment), unsupported (a kind of
  /// memory that not all parties reach), not_found (no such party).
  static Result<NegotiatedBuffer> adopt(const Reconciled& result, std::shared_ptr<Buffer> buffer,
                                        const NegotiatedOptions& options = {});

  const Reconciled& attributes() const noexcept { return result_; }
  const std::shared_ptr<Buffer>& buffer() const noexcept;
  Heap heap() const noexcept;  ///< that it came from
  Permission permission() const noexcept;
  /// What lock() allows.
  CpuAccess cpu() const noexcept;
  Enforcement enforcement() const noexcept;
  AnchorState anchor() const noexcept;

  /// The tensor in it, the image in it. Errors: unsupported (there is none).
  Result<Tensor> tensor() const;
  Result<Tensor> image() const;

  /// Copies all elements of `source` into the buffer's tensor, whatever the order of axes there.
  /// `source` has the same type, and its axes in `order`: [N, C, H, W], [N, H, W, C], or [N, C/x
  /// rounded up, H, W, x] with any x; N counts the axes before it, too. Channels that only pad get
  /// pad_value() where a party wants padding to be something, else they stay as they are. Locks for
  /// writing. Errors: unsupported (there is no tensor), invalid_argument (another type or extents),
  /// those of lock() and Tensor::map().
  Status copy_from(const Tensor& source, AxisOrder order,
                   std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  /// The reverse: copies the buffer's tensor into `destination`, whose padding stays as it is.
  /// Locks for reading.
  Status copy_to(Tensor& destination, AxisOrder order,
                 std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));

  /// Waits until no operation is under way and nobody is in the way, then makes the bytes ready for
  /// the CPU. Allocates nothing; makes no system call for memory without caches of devices unless
  /// it waits. A negative timeout: for ever. Errors: unsupported (the policy is unmapped),
  /// permission (more access than the party asked for, or than it was given), busy (this thread
  /// holds a lock already), timeout, exhausted (64 threads hold locks), os, those of Buffer::map().
  Result<BufferLock> lock(Access access,
                          std::chrono::nanoseconds timeout = std::chrono::nanoseconds(-1));
  /// Ends the lock that this thread left with BufferLock::keep(). Errors: invalid_argument (nobody
  /// holds a lock), permission (others do), os.
  Status unlock();

  /// An engine begins to use the buffer. Errors: busy (locked, or an operation is under way).
  Result<BufferOperation> submit();
  /// The same, until `fence` gets readable (POLLIN): a sync_file of the kernel, an eventfd. Errors:
  /// also invalid_argument (an empty descriptor).
  Status submit(Fd fence);
  /// Waits at most `timeout` for the end of the latest operation; 0 looks and does not wait,
  /// negative: for ever. Errors: timeout.
  Result<OperationStatus> status(std::chrono::nanoseconds timeout) const;

  struct State;

 private:
  friend struct State;
  NegotiatedBuffer(std::shared_ptr<State> state, const Reconciled& result) noexcept
      : state_(std::move(state)), result_(result) {}
  std::shared_ptr<State> state_;
  Reconciled result_;
};

/// Allocates the buffers of a result, each apart: from the first kind of Reconciled::heaps() that
/// serves here. Zero-filled, or filled with the padding's value where there is one. Errors:
/// not_found (no such party), unsupported and permission (no heap serves: the text has the reason
/// of each), exhausted (more buffers than the parties allow), no_memory, os.
Result<std::vector<NegotiatedBuffer>> allocate_negotiated(const Reconciled& result,
                                                          const NegotiatedOptions& options = {});

/// Phases of a program that must not allocate while it runs.
enum class ModulePhase : std::uint8_t { init, run, deinit };
std::string_view to_string(ModulePhase phase) noexcept;

/// Where the buffers of a program are made: all before seal(), none after. Thread-safe.
class BufferModule {
 public:
  BufferModule();
  BufferModule(const BufferModule&) = delete;
  BufferModule& operator=(const BufferModule&) = delete;
  ~BufferModule();

  /// As the functions of these names. Errors: also permission (the module is sealed).
  Result<std::vector<NegotiatedBuffer>> allocate(const Reconciled& result,
                                                 const NegotiatedOptions& options = {});
  Result<NegotiatedBuffer> adopt(const Reconciled& result, std::shared_ptr<Buffer> buffer,
                                 const NegotiatedOptions& options = {});
  /// What `make` gives: import_buffer() and the like.
  Result<NegotiatedBuffer> add(const std::function<Result<NegotiatedBuffer>()>& make);
  /// From init to run: nothing is made from now on. Errors: permission (not in init).
  Status seal();
  /// From init or run to deinit: buffers may go. Errors: permission (there already).
  Status begin_deinit();
  ModulePhase phase() const noexcept;
  /// Buffers that were made and still are.
  std::size_t live_buffers() const noexcept;

 private:
  struct Ledger;
  std::shared_ptr<Ledger> ledger_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
