// SPDX-License-Identifier: Apache-2.0
// Answers requests about this process's part of a pool.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/local.h"
#include "base/ranked_condition.h"
#include "base/system/mapped.h"
#include "base/system/ranked_mutex.h"
#include "halyard/result.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/borrowed_arena.h"
#include "ipc/pool/dma_frame.h"

namespace halyard::ipc {

/// Requests for the key "pool/<id>". The numbers differ from those of ArenaRequest, since one
/// service answers both.
enum class PoolRequest : std::uint32_t {
  join = 101,   ///< PoolMember and a descriptor of the sender's state; the answer has the same
  leave = 102,  ///< PoolMember: the sender does not take part any more
  look = 103,   ///< nothing; the answer is PoolLook. For tools, which do not take part
};
/// A process's part as the other processes know it.
struct PoolMember {
  std::uint64_t arena_id = 0;
  std::uint32_t index = 0;
  std::uint32_t slots = 0;
};
static_assert(sizeof(PoolMember) == 16 && offsetof(PoolMember, arena_id) == 0 &&
              offsetof(PoolMember, index) == 8 && offsetof(PoolMember, slots) == 12);

/// The limit of processes that have a pool open.
inline constexpr std::size_t max_members = 64;

/// Answers for a part, also while its pool is being made or destroyed. Thread-safe.
class HALYARD_LOCAL PoolService final : public Service {
 public:
  explicit PoolService(std::unique_ptr<Arena> arena);

  Result<Parcel> answer(const NodeId& from, std::uint32_t request, Parcel body) override;
  void forget(const NodeId& gone) override;
  void look() override;

  Arena& arena() const noexcept { return *arena_; }
  SentBuffers& sent_buffers() noexcept { return sent_buffers_; }
  /// To be called where slots may have become free.
  void collect_sent_buffers() noexcept {
    if (!sent_buffers_.is_empty()) sent_buffers_.collect(*arena_);
  }
  PoolMember member() const noexcept;
  Status add_neighbour(const NodeId& node, const PoolMember& member, const Fd& state);

  /// Adds a process that borrows; its words are in the parcel's memory. Errors: malformed,
  /// permission, corrupt, exhausted.
  Status add_borrower(const NodeId& node, const Parcel& token_and_words);
  /// What a process needs that will borrow.
  Result<Parcel> offer() const;

  /// For waiting between tries to allocate: begin_wait() and end_wait() count the waiting threads;
  /// wait() returns when a slot may be free, or after at most 20 ms.
  void begin_wait(Node& node);
  void wait(std::chrono::nanoseconds at_most);
  void end_wait();

  struct Neighbour {
    NodeId node;
    PoolMember member;
    MappedMemory state;
    const ArenaHeader& header() const noexcept { return *arena_header(state.bytes()); }
  };
  /// Calls `f(neighbour)` for each other process's part.
  template <class F>
  void each_neighbour(const F& f) const {
    const std::lock_guard lock(mutex_);
    for (const auto& neighbour : neighbours_)
      f(*neighbour);
  }
  /// The process and the arena of the part `index`. Empty if no known process has it.
  std::optional<std::pair<NodeId, std::uint64_t>> owner_of(std::uint32_t index) const;
  /// Wakes threads that wait for a slot or memory, here and in other processes.
  void tell_room(Node& node);

 private:
  struct Borrower {
    NodeId node;
    std::uint64_t number = 0;
    MappedMemory mapped;
    const SharedWord* words() const noexcept {
      return reinterpret_cast<const SharedWord*>(mapped.bytes().data());
    }
  };
  Result<Parcel> answer_pool(const NodeId& from, std::uint32_t request, const Parcel& body);
  Result<Parcel> answer_arena(const NodeId& from, std::uint32_t request, const Parcel& body);
  Result<Parcel> answer_look() const;
  ArenaFacts facts() const noexcept;
  void update_wants_room();

  std::unique_ptr<Arena> arena_;
  SentBuffers sent_buffers_;
  mutable RankedMutex<LockRank::pool_service> mutex_;  ///< protects all below
  RankedCondition room_;
  std::vector<std::unique_ptr<Neighbour>> neighbours_;
  std::vector<std::unique_ptr<Borrower>> borrowers_;
  std::uint32_t waiters_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace halyard::ipc
