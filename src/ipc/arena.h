// SPDX-License-Identifier: Apache-2.0
// The part of a pool that one process allocates from: slots, and segments of memory that it alone
// writes. How slots are lent to other processes: loans.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/local.h"
#include "base/mapped.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "halyard/threads.h"
#include "ipc/extents.h"
#include "ipc/shared_word.h"

namespace halyard::ipc {

/// The beginning of the memory that others map to see an arena's state; behind it lies a word for
/// each slot, its generation.
struct ArenaHeader {
  static constexpr std::uint64_t magic_value = 0x31616E6572416C48;  ///< "HlArena1"
  static constexpr std::uint32_t version_value = 1;
  static constexpr std::uint32_t byte_order_value = 0x01020304;

  std::uint64_t magic = magic_value;
  std::uint32_t version = version_value;
  std::uint32_t byte_order = byte_order_value;
  std::uint32_t slots = 0;
  std::uint32_t slot_alignment = 0;
  std::uint64_t max_bytes = 0;  ///< that all segments may have together
  std::uint64_t reserved[4] = {};
};
static_assert(sizeof(ArenaHeader) == 64);

/// The words in an arena's mapped state, one for each slot.
inline SharedWord* slot_words(std::span<std::byte> state) noexcept {
  return std::launder(reinterpret_cast<SharedWord*>(state.data() + sizeof(ArenaHeader)));
}

/// Thread-safe. Allocating and releasing make no system call, unless a segment is added. A child of
/// fork() has no part in it: there retain() and release() do nothing.
class HALYARD_LOCAL Arena {
 public:
  struct Config {
    std::uint64_t max_bytes = std::uint64_t{1} << 30;
    std::uint32_t slots = 1024;
    std::uint32_t slot_alignment = 64;               ///< a power of two, at least 64
    std::uint64_t first_segment_bytes = 16U << 20U;  ///< later ones are as large as all before
    OwnMemoryOptions memory = {};
  };
  /// A slot with its first reference.
  struct Lease {
    std::uint32_t slot = 0;
    std::uint32_t segment = 0;
    std::uint64_t generation = 0;
    std::uint64_t offset = 0;  ///< in the segment
    std::span<std::byte> bytes;
  };

  /// `name` is for the kernel's lists. Errors: invalid_argument, no_memory, unsupported, os.
  static Result<std::unique_ptr<Arena>> create(const std::string& name, const Config& config);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Memory for one tenant; its content is what the last one left. Errors: exhausted (no slot, or
  /// no memory; the message says which, and whether memory is in pieces), no_memory (the machine
  /// has none), unsupported (a child of fork()), os.
  Result<Lease> allocate(std::size_t bytes);
  /// One reference more, for somebody who has one.
  void retain(std::uint32_t slot) noexcept;
  /// One reference more to this very tenant; false when it has left. For tenants that come back
  /// from other processes, with a slot below the count of slots.
  bool try_retain(std::uint32_t slot, std::uint64_t generation) noexcept;
  /// One less. With the last one the slot is free as soon as no process borrows it.
  void release(std::uint32_t slot) noexcept;

  /// Another process's words, one for each slot, that say what it borrows. Kept until
  /// remove_borrower(), which forgets them.
  void add_borrower(const SharedWord* words);
  void remove_borrower(const SharedWord* words) noexcept;

  struct Stats {
    std::uint32_t slots_used = 0;      ///< with references here, or borrowed
    std::uint32_t slots_borrowed = 0;  ///< of them: only others have them
    std::uint64_t bytes_used = 0;
    std::uint64_t bytes_reserved = 0;  ///< of all segments
    std::uint64_t peak_bytes_used = 0;
    std::uint64_t largest_free = 0;  ///< without another segment
  };
  Stats stats();
  const Config& config() const noexcept { return config_; }
  /// For others to map for reading: the header with the words behind it, and the segments, which
  /// stay where they are.
  const OwnMemory& control() const noexcept { return control_; }
  std::size_t segments() const;
  const OwnMemory& segment(std::size_t index) const;
  std::uint64_t generation(std::uint32_t slot) const noexcept;

 private:
  struct Slot {
    std::atomic<std::uint32_t> references{0};
    std::uint32_t extent = 0;
  };
  Arena(std::string name, const Config& config, OwnMemory control);
  bool is_of_this_process() const noexcept { return process_ == fork_generation(); }
  SharedWord& word(std::uint32_t slot) const noexcept;
  bool is_borrowed(std::uint32_t slot, std::uint64_t generation) const noexcept;
  bool try_free(std::uint32_t slot) noexcept;
  void collect() noexcept;
  Status grow(std::uint64_t bytes);
  Result<Extents::Extent> take(std::uint64_t bytes);
  Error no_memory_for(std::uint64_t bytes) const;

  std::string name_;
  Config config_;
  std::uint32_t process_ = fork_generation();
  OwnMemory control_;
  std::unique_ptr<Slot[]> slots_;
  mutable std::mutex mutex_;  ///< of all below
  Extents extents_;
  std::deque<OwnMemory> segments_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> lent_;  ///< slots without references here that others borrow
  std::vector<const SharedWord*> borrowers_;
  std::uint64_t peak_bytes_used_ = 0;
};

}  // namespace halyard::ipc
