// SPDX-License-Identifier: Apache-2.0
// All values in the owner's memory come from another process: they are checked before use.
#include "ipc/pool/borrowed_arena.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <map>

#include "base/best_effort.h"
#include "base/system/random.h"
#include "base/system/ranked_mutex.h"
#include "base/text/format_error.h"
#include "ipc/pool/loans.h"

namespace halyard::ipc {
namespace {

constexpr std::uint64_t min_slot_alignment = 64;
constexpr std::uint32_t max_peer_slots = 1U << 20U;

struct Known {
  RankedMutex<LockRank::leaf> mutex;
  std::map<std::uint64_t, std::weak_ptr<BorrowedArena>> arenas;
};
constinit PerProcess<Known> known;

}  // namespace

std::string arena_key(std::uint64_t arena_id) {
  return fmt::format("arena/{:016x}", arena_id);
}

Result<MappedMemory> map_peer_memory(const Fd& fd, std::size_t min_bytes) {
  const auto seals = seals_of(fd.get());
  if (!seals || (*seals & F_SEAL_SHRINK) == 0)
    return fail(Errc::permission, "peer: its memory must be sealed against shrinking");
  struct stat info = {};
  if (::fstat(fd.get(), &info) != 0)
    return fail_os("peer: the size of its memory cannot be read", errno);
  if (info.st_size <= 0 || static_cast<std::uint64_t>(info.st_size) < min_bytes) {
    return fail(Errc::corrupt, "peer: its memory is too small", "{} bytes, at least {} are needed",
                info.st_size, min_bytes);
  }
  return MappedMemory::create(fd.get(), static_cast<std::size_t>(info.st_size), false);
}

std::shared_ptr<BorrowedArena> BorrowedArena::known_as(const NodeId& owner,
                                                       std::uint64_t arena_id) {
  Known& table = known.get();
  std::shared_ptr<BorrowedArena> found;  // if it is the last owner, the destructor needs the lock
  const std::lock_guard lock(table.mutex);
  const auto place = table.arenas.find(arena_id);
  if (place == table.arenas.end()) return nullptr;
  found = place->second.lock();
  return found && found->identity().node == owner ? found : nullptr;
}

// Another thread may have been faster; then its arena is kept.
std::shared_ptr<BorrowedArena> BorrowedArena::remember(std::shared_ptr<BorrowedArena> fresh) {
  Known& table = known.get();
  std::shared_ptr<BorrowedArena> first;  // as above
  const std::lock_guard lock(table.mutex);
  auto& place = table.arenas[fresh->identity().arena_id];
  first = place.lock();
  if (first && first->identity().node == fresh->identity().node) return first;
  place = fresh;
  return fresh;
}

Result<std::shared_ptr<BorrowedArena>> BorrowedArena::make(const std::shared_ptr<Node>& node,
                                                           const NodeId& owner,
                                                           std::uint64_t arena_id,
                                                           const ArenaFacts& facts) {
  if (facts.slots == 0 || facts.slots > max_peer_slots || facts.index > 255)
    return fail(Errc::malformed, "peer: its description of its memory is not valid");
  HALYARD_TRY(OwnMemory words,
              create_own_memory("halyard loans", facts.slots * sizeof(SharedWord)));
  const Identity identity{owner, arena_id, facts.pool_id, facts.index};
  std::shared_ptr<BorrowedArena> fresh(new BorrowedArena(node, identity, std::move(words)));
  fresh->slots_ = facts.slots;
  fresh->counts_.resize(facts.slots);
  do {
    HALYARD_TRY(fresh->token_, random_value<BorrowerToken>());
  } while (fresh->token_.number == 0);
  return fresh;
}

Status BorrowedArena::map(const std::vector<Fd>& state_and_memory) {
  if (state_and_memory.size() != 2)
    return fail(Errc::malformed, "peer: its description of its memory is not valid");
  HALYARD_TRY(control_, map_peer_memory(state_and_memory[0], arena_state_bytes(slots_)));
  HALYARD_TRY(memory_, map_peer_memory(state_and_memory[1], 1));
  return {};
}

Result<std::shared_ptr<BorrowedArena>> BorrowedArena::get(const std::shared_ptr<Node>& node,
                                                          const NodeId& owner,
                                                          std::uint64_t arena_id,
                                                          const Deadline& deadline) {
  if (auto found = known_as(owner, arena_id)) return found;
  const std::string key = arena_key(arena_id);
  HALYARD_TRY(const auto answers,
              node->ask(owner, key, static_cast<std::uint32_t>(ArenaRequest::facts),
                        std::span<const std::byte>(), {}, deadline));
  const auto facts = answers.empty() ? std::nullopt : answers[0].as<ArenaFacts>();
  if (!facts) return fail(Errc::malformed, "peer: its description of its memory is not valid");
  HALYARD_TRY(auto fresh, make(node, owner, arena_id, *facts));
  const int words = fresh->words_.fd.get();
  fresh->is_known_to_owner_ = true;
  HALYARD_TRY(const auto memory,
              node->ask(owner, key, static_cast<std::uint32_t>(ArenaRequest::borrow), fresh->token_,
                        std::span(&words, 1), deadline));
  if (memory.empty()) return fail(Errc::malformed, "peer: sends no memory");
  HALYARD_RETURN_IF_ERROR(fresh->map(memory[0].fds));
  return remember(std::move(fresh));
}

Result<std::shared_ptr<BorrowedArena>> BorrowedArena::accept(const std::shared_ptr<Node>& node,
                                                             const NodeId& owner,
                                                             const Parcel& offer) {
  const auto offered = offer.as<ArenaOffer>();
  if (!offered) return fail(Errc::malformed, "request: has a wrong size");
  if (auto found = known_as(owner, offered->arena_id)) return found;
  HALYARD_TRY(auto fresh, make(node, owner, offered->arena_id, offered->facts));
  HALYARD_RETURN_IF_ERROR(fresh->map(offer.fds));
  return remember(std::move(fresh));
}

Result<Parcel> BorrowedArena::acceptance() {
  is_known_to_owner_ = true;
  Parcel parcel = Parcel::of(token_);
  HALYARD_TRY(Fd words, words_.fd.duplicate());
  parcel.fds.push_back(std::move(words));
  return parcel;
}

BorrowedArena::BorrowedArena(std::shared_ptr<Node> node, const Identity& identity, OwnMemory words)
    : SlotHome(identity), node_(std::move(node)), words_(std::move(words)) {}

BorrowedArena::~BorrowedArena() {
  if (process_ != fork_generation()) return;
  // All slots have been given back already; this releases the words themselves.
  if (is_known_to_owner_) {
    best_effort([&] {
      static_cast<void>(node_
                            ->ask(identity_.node, arena_key(identity_.arena_id),
                                  static_cast<std::uint32_t>(ArenaRequest::leave), token_, {},
                                  Deadline(std::chrono::milliseconds(50)))
                            .has_value());
    });
  }
  const std::lock_guard lock(known.get().mutex);
  const auto place = known.get().arenas.find(identity_.arena_id);
  if (place != known.get().arenas.end() && place->second.expired()) known.get().arenas.erase(place);
}

// Whether the owner checks this process's words. If not, nothing must be borrowed.
bool BorrowedArena::is_looked_at() noexcept {
  const SharedWord* const tokens = header().borrowers;
  for (std::uint32_t i = 0; i < ArenaHeader::max_borrowers; ++i) {
    const std::uint32_t place = (token_place_ + i) % ArenaHeader::max_borrowers;
    if (tokens[place].load(std::memory_order_acquire) != token_.number) continue;
    token_place_ = place;
    return true;
  }
  return false;
}

[[gnu::noinline]] Status BorrowedArena::introduce(bool may_ask) {
  if (is_looked_at()) return {};
  if (!may_ask) return fail(Errc::timeout, "peer: did not answer an earlier request");
  const int words = words_.fd.get();
  const auto answer = node_->ask(identity_.node, arena_key(identity_.arena_id),
                                 static_cast<std::uint32_t>(ArenaRequest::borrow), token_,
                                 std::span(&words, 1), Deadline(std::chrono::milliseconds(500)));
  if (!answer) return answer.error();
  if (is_looked_at()) return {};
  return fail(Errc::corrupt, "peer: does not accept this process as a borrower");
}

[[gnu::hot]] SharedWord& BorrowedArena::word(std::uint32_t slot) const noexcept {
  return reinterpret_cast<SharedWord*>(words_.mapped.bytes().data())[slot];
}

// The caller has counted the reference already; on success the buffer owns it.
[[gnu::hot]] inline Result<std::shared_ptr<SlotBuffer>> BorrowedArena::hold(
    std::uint32_t slot, std::uint64_t generation) {
  const std::uint64_t offset = record(slot).offset.load(std::memory_order_relaxed);
  const std::uint64_t bytes = record(slot).bytes.load(std::memory_order_relaxed);
  const std::span<std::byte> whole = memory_.bytes();
  if (offset > whole.size() || bytes > whole.size() - offset) {
    return fail(Errc::corrupt, "peer: a slot exceeds its memory",
                "{} bytes at {}, the memory has {}", bytes, offset, whole.size());
  }
  // Readers rely on the alignment: they load elements, and vectors of them, with aligned loads.
  if (offset % min_slot_alignment != 0)
    return fail(Errc::corrupt, "peer: a slot must begin at a multiple of 64", "offset {}", offset);
  return SlotBuffer::make(shared_from_this(), SlotBuffer::Place{slot, generation, offset},
                          whole.subspan(offset, bytes), false);
}

[[gnu::hot]] Result<std::shared_ptr<SlotBuffer>> BorrowedArena::borrow(std::uint32_t slot,
                                                                       std::uint64_t generation,
                                                                       bool may_ask) {
  if (process_ != fork_generation())
    return fail(Errc::unsupported, "pool: belongs to the process that forked this one");
  if (slot >= slots_)
    return fail(Errc::malformed, "descriptor: no such slot", "{} of {}", slot, slots_);
  if (!is_open(generation) || (generation & closing_bit) != 0)
    return fail(Errc::not_found, "descriptor: does not name a live tensor");
  const std::lock_guard lock(mutex_);
  const SharedWord& token_there = header().borrowers[token_place_];
  if (token_there.load(std::memory_order_acquire) != token_.number)
    HALYARD_RETURN_IF_ERROR(introduce(may_ask));
  if (counts_[slot] == 0) {
    switch (ipc::borrow(word(slot), record(slot).generation, generation)) {
      case Borrowed::yes:
        break;
      case Borrowed::gone:
        return fail(Errc::not_found, "descriptor: its tensor is gone");
      case Borrowed::busy:
        return fail(Errc::busy, "peer: stopped while it was about to free the tensor");
    }
  } else if (word(slot).load(std::memory_order_relaxed) != generation) {
    return fail(Errc::not_found, "descriptor: its tensor is gone");
  }
  ++counts_[slot];
  auto held = hold(slot, generation);
  if (!held) drop_one(slot);
  return held;
}

[[gnu::hot]] void BorrowedArena::drop_one(std::uint32_t slot) noexcept {
  if (--counts_[slot] != 0) return;
  give_back(word(slot));
  // The owner either sees that the slot is back, or is seen here to wait for room or for this slot.
  SharedWord::fence(std::memory_order_seq_cst);
  if (header().wants_room.load(std::memory_order_relaxed) != 0 ||
      record(slot).wants_notice.load(std::memory_order_relaxed) != 0)
    node_->notify(identity_.node);
}

[[gnu::hot]] void BorrowedArena::let_go(std::uint32_t slot) noexcept {
  if (process_ != fork_generation()) return;
  const std::lock_guard lock(mutex_);
  drop_one(slot);
}

std::uint64_t BorrowedArena::references(std::uint32_t slot) const noexcept {
  const std::lock_guard lock(mutex_);
  return counts_[slot];
}

}  // namespace halyard::ipc
