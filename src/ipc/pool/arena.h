// SPDX-License-Identifier: Apache-2.0
// The part of a pool that one process allocates from: slots, and memory that only this process
// writes. How slots are lent to other processes is documented in loans.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/local.h"
#include "base/system/mapped.h"
#include "base/system/ranked_mutex.h"
#include "halyard/fd.h"
#include "halyard/result.h"
#include "halyard/threads.h"
#include "ipc/node/shared_word.h"
#include "ipc/node/short_lock.h"
#include "ipc/pool/extents.h"

namespace halyard::ipc {

inline constexpr std::uint32_t max_slots = 1U << 20U;

/// The beginning of the memory that other processes map to see an arena's state. One record per
/// slot follows it. The offsets are documented in docs/shared-memory.md.
struct ArenaHeader {
  static constexpr std::uint64_t magic_value = 0x31616E6572416C48;  ///< "HlArena1"
  static constexpr std::uint32_t version_value = 1;
  static constexpr std::uint32_t byte_order_value = 0x01020304;

  std::uint64_t magic = magic_value;
  std::uint32_t version = version_value;
  std::uint32_t byte_order = byte_order_value;
  std::uint32_t slots = 0;
  std::uint32_t slot_alignment = 0;
  std::uint64_t max_bytes = 0;  ///< of the memory that holds the slots
  std::uint64_t arena_id = 0;
  std::uint32_t pool_id = 0;
  std::uint32_t index =
      0;  ///< which part of the pool: the upper 8 bits of its descriptors' slot_id
  std::uint64_t reserved[2] = {};
  // The fields below change.
  SharedWord slots_used;
  SharedWord bytes_used;
  SharedWord peak_bytes_used;
  SharedWord bytes_reserved;
  SharedWord failed_allocations;
  SharedWord wants_room;  ///< 1: a thread of this process waits for memory or a slot; 2: another
                          ///< process does
  SharedWord unused[2];
  /// Tokens of the borrowers whose words the owner checks; 0 is a free place. A process whose token
  /// is not in the list must not borrow.
  static constexpr std::uint32_t max_borrowers = 256;
  SharedWord borrowers[max_borrowers];
};
static_assert(sizeof(ArenaHeader) == 2176 && offsetof(ArenaHeader, magic) == 0 &&
              offsetof(ArenaHeader, version) == 8 && offsetof(ArenaHeader, byte_order) == 12 &&
              offsetof(ArenaHeader, slots) == 16 && offsetof(ArenaHeader, slot_alignment) == 20 &&
              offsetof(ArenaHeader, max_bytes) == 24 && offsetof(ArenaHeader, arena_id) == 32 &&
              offsetof(ArenaHeader, pool_id) == 40 && offsetof(ArenaHeader, index) == 44);
static_assert(offsetof(ArenaHeader, slots_used) == 64 && offsetof(ArenaHeader, bytes_used) == 72 &&
              offsetof(ArenaHeader, peak_bytes_used) == 80 &&
              offsetof(ArenaHeader, bytes_reserved) == 88 &&
              offsetof(ArenaHeader, failed_allocations) == 96 &&
              offsetof(ArenaHeader, wants_room) == 104 && offsetof(ArenaHeader, borrowers) == 128);

/// The part of a slot's state that other processes see.
struct SlotRecord {
  SharedWord generation;    ///< see loans.h
  SharedWord offset;        ///< of the tenant, in the memory
  SharedWord bytes;         ///< size of the tenant
  SharedWord wants_notice;  ///< 1: the borrower that gives the slot back notifies the owner
};
static_assert(sizeof(SlotRecord) == 32 && offsetof(SlotRecord, generation) == 0 &&
              offsetof(SlotRecord, offset) == 8 && offsetof(SlotRecord, bytes) == 16 &&
              offsetof(SlotRecord, wants_notice) == 24);

/// The records in an arena's mapped state.
inline SlotRecord* slot_records(std::span<std::byte> state) noexcept {
  return std::launder(reinterpret_cast<SlotRecord*>(state.data() + sizeof(ArenaHeader)));
}
inline ArenaHeader* arena_header(std::span<std::byte> state) noexcept {
  return std::launder(reinterpret_cast<ArenaHeader*>(state.data()));
}
constexpr std::size_t arena_state_bytes(std::uint32_t slots) noexcept {
  return sizeof(ArenaHeader) + std::size_t{slots} * sizeof(SlotRecord);
}

/// Thread-safe. Allocating and releasing make no system call, unless memory has to be reserved. A
/// child of fork() has no part in it: retain() and release() do nothing there.
class HALYARD_LOCAL Arena {
 public:
  struct Config {
    std::uint64_t max_bytes = std::uint64_t{1} << 30;
    std::uint32_t slots = 1024;
    std::uint32_t slot_alignment = 64;  ///< a power of two, at least 64
    std::uint64_t first_bytes = 16U
                                << 20U;  ///< reserved first; later reservations double the total
    OwnMemoryOptions memory = {};
    bool scrubs = false;  ///< memory is zero when it is allocated
    // What other processes know it by.
    std::uint64_t arena_id = 0;
    std::uint32_t pool_id = 0;
    std::uint32_t index = 0;
    /// Even. Arenas whose first generations are random have slots of different generations.
    std::uint64_t first_generation = 0;
  };
  /// A slot with its first reference.
  struct Lease {
    std::uint32_t slot = 0;
    std::uint64_t generation = 0;
    std::uint64_t offset = 0;  ///< in the memory
    std::span<std::byte> bytes;
  };

  /// `name` appears in the kernel's lists of mappings. Errors: invalid_argument, no_memory,
  /// unsupported, os.
  static Result<std::unique_ptr<Arena>> create(const std::string& name, const Config& config);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Memory for one tenant; it still holds what the last tenant left, unless Config::scrubs.
  /// Errors: exhausted (no slot or no memory is free; the message names which, and whether the free
  /// memory is fragmented), no_memory (the machine has none), unsupported (a child of fork()), os.
  Result<Lease> allocate(std::size_t bytes);
  /// Adds a reference. The caller must hold one.
  void retain(std::uint32_t slot) noexcept;
  /// Adds a reference to this very tenant; false if it has left. For tenants that come back from
  /// other processes; `slot` must be below the number of slots.
  bool try_retain(std::uint32_t slot, std::uint64_t generation) noexcept;
  /// Removes a reference. After the last one the slot is free as soon as no process borrows it.
  void release(std::uint32_t slot) noexcept;

  /// Like retain() and release(), but return false if this process holds no reference to this very
  /// tenant. Cheaper than try_retain(), which also finds tenants that only other processes hold.
  bool retain_tenant(std::uint32_t slot, std::uint64_t generation) noexcept;
  bool release_tenant(std::uint32_t slot, std::uint64_t generation) noexcept;

  /// Adds another process as a borrower: `words` has one word per slot, which holds the generation
  /// that the process borrows; `token` names the words and is not 0. Keeps both until
  /// remove_borrower(). Returns false if there are 256 borrowers.
  bool add_borrower(const SharedWord* words, std::uint64_t token);
  void remove_borrower(const SharedWord* words) noexcept;
  /// Adds another process's part of the pool. What it uses counts towards the limits of this part
  /// too. Keeps the pointer until remove_neighbour().
  void add_neighbour(const ArenaHeader* header);
  void remove_neighbour(const ArenaHeader* header) noexcept;

  /// Sets ArenaHeader::wants_room, which tells other processes whether a thread waits; 0: none
  /// does. After the call the caller must try allocate() once more before it waits.
  void set_wants_room(std::uint64_t wants) noexcept;
  /// Makes borrowers notify the owner when they give the slot's tenant back. Call it before the
  /// slot is lent.
  void set_wants_notice(std::uint32_t slot) noexcept;
  /// Frees the slots that borrowers have given back.
  void collect_lent() noexcept;
  /// `call` is called when a slot is freed while a process waits for room. It must not call the
  /// arena.
  void on_room(std::function<void()> call) { on_room_ = std::move(call); }
  /// `call` is called when a slot waits to be scrubbed: then call scrub_some() until it returns
  /// false. allocate() scrubs what it needs and finds not scrubbed.
  void on_dirty(std::function<void()> call) { on_dirty_ = std::move(call); }
  /// Zeroes up to 100 KiB. Returns false if no slot waits to be scrubbed.
  bool scrub_some();

  struct Stats {
    std::uint32_t slots_used = 0;      ///< with references here, or borrowed
    std::uint32_t slots_borrowed = 0;  ///< of them: without references here
    std::uint64_t bytes_used = 0;
    std::uint64_t bytes_reserved = 0;
    std::uint64_t peak_bytes_used = 0;
    std::uint64_t largest_free = 0;  ///< without reserving more
    std::uint64_t failed_allocations = 0;
    std::uint64_t references = 0;  ///< references here, and one per borrowed slot of each process
  };
  Stats stats();
  const Config& config() const noexcept { return config_; }
  /// For other processes, to map for reading: the header with its records, and the memory.
  const OwnMemory& control() const noexcept { return control_; }
  const OwnMemory& memory() const noexcept { return memory_; }
  std::uint64_t generation(std::uint32_t slot) const noexcept;
  std::uint32_t references(std::uint32_t slot) const noexcept {
    return slots_[slot].references.load(std::memory_order_relaxed);
  }
  /// The place of a tenant. The caller must hold a reference to it.
  Lease lease(std::uint32_t slot) const noexcept;

 private:
  struct Slot {
    std::atomic<std::uint32_t> references{0};
    std::uint32_t extent = 0;
    std::span<std::byte> bytes;
  };
  Arena(const Config& config, OwnMemory control, OwnMemory memory);
  bool is_of_this_process() const noexcept { return process_ == fork_generation(); }
  ArenaHeader& header() const noexcept { return *arena_header(control_.mapped.bytes()); }
  SlotRecord& record(std::uint32_t slot) const noexcept;
  bool fits_with_neighbours(std::uint64_t bytes, std::uint64_t& others) const noexcept;
  void tell_use() noexcept;
  std::uint64_t bytes_used() const noexcept {
    return extents_.total_bytes() - extents_.free_bytes();
  }
  bool is_borrowed(std::uint32_t slot, std::uint64_t generation) const noexcept;
  bool try_free(std::uint32_t slot) noexcept;
  void collect() noexcept;
  void collect_some() noexcept;
  bool is_waited_for() const noexcept;
  Status grow(std::uint64_t bytes);
  Result<Extents::Extent> take(std::uint64_t bytes);
  Error no_memory_for(std::uint64_t bytes);
  Error no_slot(std::uint64_t bytes, std::uint64_t others) const;
  void set_free(std::uint32_t slot) noexcept;
  bool scrub_one() noexcept;
  bool scrub(std::size_t at_most) noexcept;

  Config config_;
  std::uint32_t process_ = fork_generation();
  OwnMemory control_;
  OwnMemory memory_;
  std::unique_ptr<Slot[]> slots_;
  mutable RankedMutex<LockRank::leaf, ShortLock> mutex_;  ///< protects all below
  Extents extents_;
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> lent_;   ///< slots without references here that other processes borrow
  std::size_t next_lent_ = 0;         ///< where collect_some() continues
  std::vector<std::uint32_t> dirty_;  ///< slots that are free once they are zeroed
  std::size_t scrubbed_bytes_ = 0;    ///< bytes of the last of them that are zeroed
  bool dirt_is_told_ = false;         ///< on_dirty() has been called and scrub_some() is not done
  struct Borrower {
    const SharedWord* words;
    std::uint32_t place;  ///< of its token in ArenaHeader::borrowers
  };
  std::vector<Borrower> borrowers_;
  std::vector<const ArenaHeader*> neighbours_;
  std::uint64_t peak_bytes_used_ = 0;
  std::function<void()> on_room_;
  std::function<void()> on_dirty_;
};

}  // namespace halyard::ipc
