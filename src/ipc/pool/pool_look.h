// SPDX-License-Identifier: Apache-2.0
// What a process says of its part of a pool to an observer, who does not take part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/local.h"
#include "halyard/result.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"

namespace halyard::ipc {

/// Slots, and bytes of the tensors in them.
struct Holding {
  std::uint64_t slots = 0;
  std::uint64_t bytes = 0;
};
/// A process that has the part mapped, and what it holds.
struct HolderRecord {
  NodeId node;
  Holding holding;
};
static_assert(sizeof(HolderRecord) == 32);

/// The answer to PoolRequest::look: this, and as many HolderRecords; a descriptor of the arena's
/// state is beside it.
struct PoolLookHead {
  std::uint64_t arena_id = 0;
  std::uint32_t index = 0;
  std::uint32_t slots = 0;
  Holding own;  ///< of the owner
  std::uint32_t holders = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(PoolLookHead) == 40);

struct HALYARD_LOCAL PoolLook {
  PoolLookHead head;
  std::vector<HolderRecord> holders;
};

/// What the arena's own process holds: a snapshot, slots may come and go meanwhile.
Holding held_by_owner(const Arena& arena) noexcept;
/// What the borrower with these words holds; one word for each slot, of a process that may be
/// hostile.
Holding held_by_borrower(const Arena& arena, const SharedWord* words) noexcept;

/// The answer without its descriptor.
Parcel to_parcel(const PoolLook& look);
/// Errors: malformed.
Result<PoolLook> pool_look_from(const Parcel& parcel);

}  // namespace halyard::ipc
