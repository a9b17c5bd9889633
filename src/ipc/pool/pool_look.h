// SPDX-License-Identifier: Apache-2.0
// The answer of a process to an observer: the state of its part of a pool. An observer does not
// take part in the pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/local.h"
#include "halyard/result.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"

namespace halyard::ipc {

/// A number of slots, and the bytes of the tensors in them.
struct Holding {
  std::uint64_t slots = 0;
  std::uint64_t bytes = 0;
};
/// A process that has the part mapped, and the slots that it holds.
struct HolderRecord {
  NodeId node;
  Holding holding;
};
static_assert(sizeof(HolderRecord) == 32);

/// The answer to PoolRequest::look: this head, then `holders` HolderRecords. The answer also has a
/// descriptor of the arena's state.
struct PoolLookHead {
  std::uint64_t arena_id = 0;
  std::uint32_t index = 0;
  std::uint32_t slots = 0;
  Holding own;  ///< what the owner holds
  std::uint32_t holders = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(PoolLookHead) == 40);

struct HALYARD_LOCAL PoolLook {
  PoolLookHead head;
  std::vector<HolderRecord> holders;
};

/// What the arena's own process holds. A snapshot: slots may be taken and freed meanwhile.
Holding held_by_owner(const Arena& arena) noexcept;
/// What a borrower holds. `words` has one word per slot and belongs to a process that may be
/// hostile.
Holding held_by_borrower(const Arena& arena, const SharedWord* words) noexcept;

/// The answer without its descriptor.
Parcel to_parcel(const PoolLook& look);
/// Errors: malformed.
Result<PoolLook> pool_look_from(const Parcel& parcel);

}  // namespace halyard::ipc
