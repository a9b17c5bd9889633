// SPDX-License-Identifier: Apache-2.0
// Counting does not take the lock of the arena: a thread that allocates does not wait for an
// observer.
#include "ipc/pool/pool_look.h"

#include <algorithm>
#include <cstring>

#include "base/text/format_error.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/loans.h"

namespace halyard::ipc {
namespace {

template <class IsHeld>
Holding count(const Arena& arena, const IsHeld& is_held) noexcept {
  const SlotRecord* const records = slot_records(arena.control().mapped.bytes());
  Holding holding;
  for (std::uint32_t slot = 0; slot < arena.config().slots; ++slot) {
    if (!is_held(slot)) continue;
    ++holding.slots;
    holding.bytes += records[slot].bytes.load(std::memory_order_relaxed);
  }
  return holding;
}

}  // namespace

Holding held_by_owner(const Arena& arena) noexcept {
  return count(arena, [&](std::uint32_t slot) { return arena.references(slot) != 0; });
}

Holding held_by_borrower(const Arena& arena, const SharedWord* words) noexcept {
  return count(arena, [&](std::uint32_t slot) {
    const std::uint64_t word = words[slot].load(std::memory_order_relaxed);
    return word != 0 && is_open(word) && word == (arena.generation(slot) & ~closing_bit);
  });
}

Parcel to_parcel(const PoolLook& look) {
  PoolLookHead head = look.head;
  head.holders = static_cast<std::uint32_t>(look.holders.size());
  const std::size_t records_bytes = look.holders.size() * sizeof(HolderRecord);
  Parcel parcel;
  parcel.bytes.resize(sizeof(head) + records_bytes);
  std::memcpy(parcel.bytes.data(), &head, sizeof(head));
  if (records_bytes != 0)
    std::memcpy(parcel.bytes.data() + sizeof(head), look.holders.data(), records_bytes);
  return parcel;
}

Result<PoolLook> pool_look_from(const Parcel& parcel) {
  PoolLook look;
  const auto malformed = [] {
    return fail(Errc::malformed, "peer: its description of its part of the pool is not valid");
  };
  if (parcel.bytes.size() < sizeof(PoolLookHead)) return malformed();
  std::memcpy(&look.head, parcel.bytes.data(), sizeof(PoolLookHead));
  const PoolLookHead& head = look.head;
  const std::size_t rest = parcel.bytes.size() - sizeof(PoolLookHead);
  const bool adds_up = head.holders <= ArenaHeader::max_borrowers &&
                       rest == head.holders * sizeof(HolderRecord) && head.slots != 0 &&
                       head.slots <= max_slots && head.index <= 255 && head.own.slots <= head.slots;
  if (!adds_up) return malformed();
  look.holders.resize(head.holders);
  if (rest != 0) std::memcpy(look.holders.data(), parcel.bytes.data() + sizeof(PoolLookHead), rest);
  const bool fits =
      std::all_of(look.holders.begin(), look.holders.end(),
                  [&](const HolderRecord& holder) { return holder.holding.slots <= head.slots; });
  if (!fits) return malformed();
  return look;
}

}  // namespace halyard::ipc
