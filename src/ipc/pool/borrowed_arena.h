// SPDX-License-Identifier: Apache-2.0
// Another process's part of a pool, as this process sees it: memory that it reads, and its own
// words that hold what it borrows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/local.h"
#include "base/system/mapped.h"
#include "base/system/ranked_mutex.h"
#include "halyard/result.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/slot_buffer.h"

namespace halyard::ipc {

/// Requests for the key arena_key().
enum class ArenaRequest : std::uint32_t {
  facts = 1,  ///< the answer is ArenaFacts
  /// The request holds BorrowerToken and a descriptor of the borrower's words, one per slot of the
  /// arena. The answer has descriptors of the arena's state and of its memory.
  borrow = 2,
  leave = 3,  ///< BorrowerToken: the words are no longer needed
  buffer =
      4,  ///< BufferFacts (dma_frame.h); the answer has the descriptor of a sent frame's buffer
};
/// The name of one process's words: random, not 0.
struct BorrowerToken {
  std::uint64_t number = 0;
};
struct ArenaFacts {
  std::uint32_t slots = 0;
  std::uint32_t pool_id = 0;
  std::uint32_t index = 0;
  std::uint32_t reserved = 0;
};
/// A process offers its arena to one that will need it, with descriptors of its state and of its
/// memory. The answer is BorrowerToken, with a descriptor of the borrower's words.
struct ArenaOffer {
  std::uint64_t arena_id = 0;
  ArenaFacts facts;
};
static_assert(sizeof(BorrowerToken) == 8 && sizeof(ArenaFacts) == 16 &&
              offsetof(ArenaFacts, slots) == 0 && offsetof(ArenaFacts, pool_id) == 4 &&
              offsetof(ArenaFacts, index) == 8 && sizeof(ArenaOffer) == 24 &&
              offsetof(ArenaOffer, arena_id) == 0 && offsetof(ArenaOffer, facts) == 8);
std::string arena_key(std::uint64_t arena_id);

/// Maps another process's memory for reading. Checks its seals and its size first, so that no
/// process can remove pages under the mapping. Errors: permission (not sealed), corrupt (too
/// small).
Result<MappedMemory> map_peer_memory(const Fd& fd, std::size_t min_bytes);

/// Thread-safe.
class HALYARD_LOCAL BorrowedArena final : public SlotHome,
                                          public std::enable_shared_from_this<BorrowedArena> {
 public:
  /// The part `arena_id` of the process `owner`. Asks the owner if this process does not know the
  /// part yet. Errors: those of Node::ask(), malformed, permission, no_memory.
  static Result<std::shared_ptr<BorrowedArena>> get(const std::shared_ptr<Node>& node,
                                                    const NodeId& owner, std::uint64_t arena_id,
                                                    const Deadline& deadline);
  /// The part that `owner` offers. Errors: malformed, permission, no_memory.
  static Result<std::shared_ptr<BorrowedArena>> accept(const std::shared_ptr<Node>& node,
                                                       const NodeId& owner, const Parcel& offer);
  ~BorrowedArena() override;

  /// The answer to an offer.
  Result<Parcel> acceptance();
  /// Borrows a tenant. Errors: not_found (it has left), busy (the owner stopped while it was about
  /// to free it), malformed (there is no such slot), corrupt (the owner's records are invalid). If
  /// the owner does not know the borrower also: those of Node::ask(), or timeout if not `may_ask`.
  Result<std::shared_ptr<SlotBuffer>> borrow(std::uint32_t slot, std::uint64_t generation,
                                             bool may_ask = true);

  void let_go(std::uint32_t slot) noexcept override;
  std::uint64_t references(std::uint32_t slot) const noexcept override;

 private:
  BorrowedArena(std::shared_ptr<Node> node, const Identity& identity, OwnMemory words);
  static std::shared_ptr<BorrowedArena> known_as(const NodeId& owner, std::uint64_t arena_id);
  static Result<std::shared_ptr<BorrowedArena>> make(const std::shared_ptr<Node>& node,
                                                     const NodeId& owner, std::uint64_t arena_id,
                                                     const ArenaFacts& facts);
  static std::shared_ptr<BorrowedArena> remember(std::shared_ptr<BorrowedArena> fresh);
  Status map(const std::vector<Fd>& state_and_memory);
  bool is_looked_at() noexcept;
  Status introduce(bool may_ask);
  SharedWord& word(std::uint32_t slot) const noexcept;
  ArenaHeader& header() const noexcept { return *arena_header(control_.bytes()); }
  SlotRecord& record(std::uint32_t slot) const noexcept {
    return slot_records(control_.bytes())[slot];
  }
  Result<std::shared_ptr<SlotBuffer>> hold(std::uint32_t slot, std::uint64_t generation);
  void drop_one(std::uint32_t slot) noexcept;

  std::shared_ptr<Node> node_;
  std::uint32_t process_ = fork_generation();
  std::uint32_t slots_ = 0;
  BorrowerToken token_;
  std::atomic<bool> is_known_to_owner_{false};
  OwnMemory words_;
  MappedMemory control_;
  MappedMemory memory_;
  mutable RankedMutex<LockRank::borrowed_arena, ShortLock> mutex_;  ///< protects all below
  std::vector<std::uint32_t> counts_;
  std::uint32_t token_place_ = 0;  ///< of the token in the owner's list
};

}  // namespace halyard::ipc
