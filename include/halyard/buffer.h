// SPDX-License-Identifier: Apache-2.0
// Buffer: a run of bytes of some kind of memory; Map: access to it from the CPU.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// Kind of memory. `automatic` tries dma, then shm, then mem (HALYARD_TENSOR_FORCE_MEM: mem only);
/// the others never fall back.
enum class Memory : std::uint8_t { mem = 0, dma = 1, shm = 2, pbo = 3, automatic = 255 };
std::string_view to_string(Memory memory) noexcept;

/// What a map is for. Coherency work on device memory depends on it, so ask for what you need.
enum class Access : std::uint8_t { read = 1, write = 2, read_write = 3 };
constexpr bool can_read(Access a) noexcept {
  return (static_cast<unsigned>(a) & 1U) != 0;
}
constexpr bool can_write(Access a) noexcept {
  return (static_cast<unsigned>(a) & 2U) != 0;
}

class Buffer;

/// CPU access to a whole buffer from map() until destruction; keeps the buffer alive. Move-only.
/// Any number of maps may exist at once; ordering writes against reads is the caller's business.
class Map {
 public:
  Map(Map&& other) noexcept;
  Map& operator=(Map&& other) noexcept;
  Map(const Map&) = delete;
  Map& operator=(const Map&) = delete;
  ~Map();

  Access access() const noexcept { return access_; }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Empty when the map is read-only.
  std::span<std::byte> writable_bytes() const noexcept {
    return can_write(access_) ? bytes_ : std::span<std::byte>{};
  }

 private:
  friend class Buffer;
  Map(std::shared_ptr<Buffer> buffer, std::span<std::byte> bytes, Access access) noexcept
      : buffer_(std::move(buffer)), bytes_(bytes), access_(access) {}
  void end() noexcept;
  std::shared_ptr<Buffer> buffer_;
  std::span<std::byte> bytes_;
  Access access_;
};

/// State that another layer hangs on a buffer (an EGLImage, a CUDA registration); dies with it.
class Attachment {
 public:
  virtual ~Attachment() = default;
};

/// A run of bytes. Created by allocate() and wrap_memory(), and by layers that bring a memory kind
/// of their own: they derive and implement the two hooks. Thread-safe, the content aside.
class Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  virtual ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::size_t size_bytes() const noexcept { return size_bytes_; }
  Memory memory() const noexcept { return memory_; }
  /// Unique in this process and never used again; the key for caches.
  std::uint64_t id() const noexcept { return id_; }
  /// Borrowed descriptor of the memory, -1 when it has none (heap, foreign).
  virtual int fd() const noexcept { return -1; }
  /// False when the content must not be written (a published slot, const foreign memory).
  bool is_writable() const noexcept { return writable_; }

  /// Errors: permission (write access to a read-only buffer), and what the kind of memory reports.
  Result<Map> map(Access access);

  /// The attachment of `owner` (any address that is unique to it), null when there is none.
  Attachment* attachment(const void* owner) const;
  /// Hangs `value` on the buffer, replacing the owner's earlier one.
  void attach(const void* owner, std::unique_ptr<Attachment> value);
  void detach(const void* owner);

 protected:
  Buffer(std::size_t size_bytes, Memory memory, bool writable = true) noexcept;

 private:
  friend class Map;
  /// All bytes, ready for `access`; every success is paired with one end_access().
  virtual Result<std::span<std::byte>> begin_access(Access access) = 0;
  virtual void end_access(Access access) noexcept = 0;

  std::size_t size_bytes_;
  std::uint64_t id_;
  Memory memory_;
  bool writable_;
  mutable std::mutex attachments_mutex_;
  std::vector<std::pair<const void*, std::unique_ptr<Attachment>>> attachments_;
};

/// Allocates zero-filled memory, aligned to 64 bytes. `size_bytes` 0 is legal for mem only.
/// Errors: invalid_argument (size 0), no_memory, unsupported (this kind is not served here), os.
Result<std::shared_ptr<Buffer>> allocate(std::size_t size_bytes, Memory memory);

/// Wraps a caller's memory without a copy; `release` runs once when the last user is gone. Reports
/// Memory::mem. Errors: invalid_argument (null data with a size).
Result<std::shared_ptr<Buffer>> wrap_memory(void* data, std::size_t size_bytes,
                                            std::function<void()> release);
/// The same, read-only.
Result<std::shared_ptr<Buffer>> wrap_memory(const void* data, std::size_t size_bytes,
                                            std::function<void()> release);

/// Whether allocate() can serve this kind here; the failure tells why not. Probed once, cached.
Status memory_available(Memory memory);

}  // namespace halyard
HALYARD_EXPORTS_END
