// SPDX-License-Identifier: Apache-2.0
// Buffer: contiguous bytes in one kind of memory; Map: access to them from the CPU.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "halyard/export.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "halyard/threads.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Kind of memory. `automatic` tries dma, then shm, then mem (HALYARD_TENSOR_FORCE_MEM: mem only);
/// the other kinds never fall back.
enum class Memory : std::uint8_t { mem = 0, dma = 1, shm = 2, pbo = 3, automatic = 255 };
std::string_view to_string(Memory memory) noexcept;

/// What a map is used for. It decides the cache maintenance on device memory, so request only what
/// is needed.
enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };
constexpr bool can_read(Access a) noexcept {
  return (static_cast<unsigned>(a) & 1U) != 0;
}
constexpr bool can_write(Access a) noexcept {
  return (static_cast<unsigned>(a) & 2U) != 0;
}

/// What the CPU is expected to do with a buffer, declared when the buffer is created. A map beyond
/// it still succeeds. It is logged once per buffer and counted: see unplanned_cpu_accesses().
enum class CpuAccess : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3 };
std::string_view to_string(CpuAccess access) noexcept;
/// Number of maps in this process that went beyond the declared CpuAccess. Thread-safe.
std::uint64_t unplanned_cpu_accesses() noexcept;

/// Bytes of a buffer as rows: `rows` rows of `row_bytes`, which begin `stride_bytes` apart.
struct ByteRegion {
  std::size_t offset_bytes = 0;
  std::size_t row_bytes = 0;
  std::size_t rows = 1;
  std::size_t stride_bytes = 0;
};
/// Whether two regions of one buffer share a byte. Exact if both have the same stride or one of
/// them has no gaps; otherwise true if their outer bounds overlap.
bool overlaps(const ByteRegion& a, const ByteRegion& b) noexcept;

class Buffer;
struct WriteClaim;

/// CPU access to a whole buffer from map() until destruction; keeps the buffer alive. Move-only.
/// Any number of maps may exist at once: for reading on any thread, for writing one region on one
/// thread only. The caller must order reads against writes.
class Map {
 public:
  /// Maps nothing.
  Map() noexcept {}
  Map(Map&& other) noexcept
      : buffer_(std::move(other.buffer_)),
        bytes_(std::exchange(other.bytes_, {})),
        claim_(std::exchange(other.claim_, nullptr)),
        access_(other.access_) {}
  Map& operator=(Map&& other) noexcept {
    if (this == &other) return *this;
    if (buffer_) end();
    buffer_ = std::move(other.buffer_);
    bytes_ = std::exchange(other.bytes_, {});
    claim_ = std::exchange(other.claim_, nullptr);
    access_ = other.access_;
    return *this;
  }
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  ~Map() {
    if (buffer_) end();
  }

  Access access() const noexcept { return access_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Empty when the map is read-only.
  std::span<std::byte> writable_bytes() const noexcept {
    return can_write(access_) ? bytes_ : std::span<std::byte>{};
  }

 private:
  friend class Buffer;
  Map(std::shared_ptr<Buffer> buffer, std::span<std::byte> bytes, Access access,
      WriteClaim* claim) noexcept
      : buffer_(std::move(buffer)), bytes_(bytes), claim_(claim), access_(access) {}
  void end() noexcept;
  std::shared_ptr<Buffer> buffer_;
  std::span<std::byte> bytes_;
  WriteClaim* claim_ = nullptr;
  Access access_ = Access::read;
};

/// State that another layer attaches to a buffer (an EGLImage, a CUDA registration); destroyed with
/// the buffer.
class Attachment {
 public:
  virtual ~Attachment() = default;
};

/// Contiguous bytes. Created by allocate(), wrap_memory() and Importer. A layer with its own kind
/// of memory derives from Buffer and implements begin_access() and end_access(). Thread-safe,
/// except for the content.
class Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  virtual ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::size_t size_bytes() const noexcept { return size_bytes_; }
  Memory memory() const noexcept { return memory_; }
  /// Unique in this process and never reused; a key for caches.
  std::uint64_t id() const noexcept { return id_; }
  /// Borrowed descriptor of the memory, -1 if it has none (heap memory, a caller's memory).
  virtual int fd() const noexcept { return -1; }
  /// Duplicates the descriptor; the caller owns the result. Errors: unsupported (this memory has
  /// none), os.
  Result<Fd> clone_fd() const;
  /// The kernel object behind fd(); none without a descriptor. Equal for all buffers over the same
  /// object.
  std::optional<FdIdentity> identity() const noexcept;
  /// False if the content must not be written (a published slot, const memory of a caller).
  bool is_writable() const noexcept { return writable_.load(std::memory_order_relaxed); }

  /// The latest failure to make the bytes of an ended map visible to devices. A map's destructor
  /// can only log it. After such a failure devices may see old bytes. Success: no map has failed
  /// this way.
  virtual Status sync_error() const { return {}; }
  /// Number of maps that have failed this way.
  virtual std::uint64_t sync_failures() const noexcept { return 0; }

  CpuAccess cpu_access() const noexcept { return cpu_access_; }
  void set_cpu_access(CpuAccess access) noexcept { cpu_access_ = access; }

  /// Maps all bytes; a map for writing claims all of them. Errors: permission (write access to a
  /// read-only buffer), busy (another thread's map writes there), and those of the kind of memory.
  Result<Map> map(Access access) { return map(access, {}); }
  /// The same, but a map for writing claims only `regions` (at most 4; empty: all bytes).
  Result<Map> map(Access access, std::span<const ByteRegion> regions);
  /// The same without a claim: for writers that are ordered by other means.
  Result<Map> map_unclaimed(Access access);

  /// The attachment of `owner` (any address that is unique to the owner), null if there is none.
  Attachment* attachment(const void* owner) const;
  /// Attaches `value` to the buffer and destroys the owner's earlier attachment.
  void attach(const void* owner, std::unique_ptr<Attachment> value);
  void detach(const void* owner);

 protected:
  Buffer(std::size_t size_bytes, Memory memory, bool writable = true) noexcept;
  /// Sets the address of the bytes in this process. Derived classes call it when they know the
  /// address, at the latest at the first map; aliases() uses it to find two buffers over the same
  /// bytes. Thread-safe.
  void set_address(const std::byte* address) noexcept {
    address_.store(address, std::memory_order_relaxed);
  }
  /// Refuses later maps for writing; existing maps for writing stay valid.
  void make_read_only() noexcept { writable_.store(false, std::memory_order_relaxed); }
  /// Destroys all attachments. A derived destructor calls it first if its memory must outlive them.
  void release_attachments() noexcept;

 private:
  friend class Map;
  friend class Tensor;
  /// Returns all bytes, ready for `access`; every success is paired with one end_access().
  virtual Result<std::span<std::byte>> begin_access(Access access) = 0;
  virtual void end_access(Access access) noexcept = 0;

  /// map() for a caller that already holds `self`; cheaper than shared_from_this().
  static Result<Map> map_shared(std::shared_ptr<Buffer> self, Access access,
                                std::span<const ByteRegion> regions, bool claimed);
  Result<WriteClaim*> claim(std::span<const ByteRegion> regions);
  void note_unplanned(Access access) noexcept;
  const std::byte* address() const noexcept { return address_.load(std::memory_order_relaxed); }

  std::size_t size_bytes_;
  std::uint64_t id_;
  Memory memory_;
  std::atomic<bool> writable_;
  std::atomic<const std::byte*> address_{nullptr};
  std::atomic<CpuAccess> cpu_access_{CpuAccess::read_write};
  std::atomic<bool> unplanned_noted_{false};
  // Cached result of identity(); the descriptor never changes.
  mutable std::atomic<bool> identified_{false};
  mutable std::atomic<std::uint64_t> device_{0};
  mutable std::atomic<std::uint64_t> inode_{0};
  ForkMutex claims_mutex_;
  std::unique_ptr<WriteClaim> claims_;
  mutable ForkMutex attachments_mutex_;
  struct Attached;
  Attached* attached_ = nullptr;  ///< a linked list; consistent after each store, because fork()
                                  ///< may copy it at any time
};

/// Allocates zero-filled memory, aligned to 64 bytes. `size_bytes` 0 is legal for mem only.
/// Errors: invalid_argument (size 0), no_memory, unsupported (this kind is not available here),
/// permission (naming the device node and the group that may use it), os.
Result<std::shared_ptr<Buffer>> allocate(std::size_t size_bytes, Memory memory);

/// Options of allocate().
struct AllocateOptions {
  Memory memory = Memory::automatic;
  CpuAccess cpu_access = CpuAccess::read_write;
  /// Name in the kernel's lists of buffers (DMA-BUF, memfd), truncated to 31 bytes. Need not be
  /// unique.
  std::string label = {};
  /// Names under /dev/dma_heap, or "udmabuf", tried in order. Empty: HALYARD_TENSOR_DMA_HEAP, else
  /// contiguous heaps first, then system, then udmabuf.
  std::vector<std::string> dma_heaps = {};
  /// Alignment of the first byte, in addition to 64: up to 2^30 for mem; a divisor of the page size
  /// for the other kinds. Errors: invalid_argument, unsupported.
  std::size_t align_bytes = 64;
  /// dma: the buffer must stay attached to a DRM device, so that synchronisation also flushes the
  /// CPU caches when no engine attaches the buffer. Errors: unsupported (another kind of memory; no
  /// render node accepts it).
  bool attached = false;
  /// shm: only this process can write, through maps of this Buffer; the kernel refuses writes by
  /// any other process that gets the descriptor. Not for udmabuf. Errors: unsupported (mem, dma; a
  /// kernel before Linux 5.1).
  bool sole_writer = false;
};
Result<std::shared_ptr<Buffer>> allocate(std::size_t size_bytes, const AllocateOptions& options);

/// Wraps a caller's memory without a copy. `release` runs once, when the last user is destroyed, on
/// that user's thread. Without `release` the caller keeps the memory alive until every Buffer,
/// Tensor and map over it is destroyed. memory() is Memory::mem. Errors: invalid_argument (null
/// data with a size, a size beyond the address space); then the caller keeps the memory, and
/// `release` does not run.
Result<std::shared_ptr<Buffer>> wrap_memory(void* data, std::size_t size_bytes,
                                            std::function<void()> release = {});
/// The same, read-only.
Result<std::shared_ptr<Buffer>> wrap_memory(const void* data, std::size_t size_bytes,
                                            std::function<void()> release = {});
/// The same for a span of plain values, read-only if they are const:
/// `wrap_memory(std::span(pixels))`.
template <class T, std::size_t N>
Result<std::shared_ptr<Buffer>> wrap_memory(std::span<T, N> data,
                                            std::function<void()> release = {}) {
  static_assert(std::is_trivially_copyable_v<T>, "bytes of a Buffer are plain values");
  return wrap_memory(data.data(), data.size_bytes(), std::move(release));
}
/// The same for memory inside an object (a vector, a cv::Mat). `owner` is kept alive as long as the
/// memory is used.
template <class T>
Result<std::shared_ptr<Buffer>> wrap_object(std::span<T> data, std::shared_ptr<const void> owner) {
  return wrap_memory(data.data(), data.size_bytes(), [owner = std::move(owner)] {});
}

/// Whether allocate() can serve this kind here; the error gives the reason. Probed once, then
/// cached. Thread-safe.
Status memory_available(Memory memory);

}  // namespace halyard
HALYARD_EXPORTS_END
