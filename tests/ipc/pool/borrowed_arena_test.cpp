// SPDX-License-Identifier: Apache-2.0
// Arenas of other processes, as a peer offers them that names an arena of another one.
#include "ipc/pool/borrowed_arena.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/system/mapped.h"
#include "ipc/node/node.h"
#include "ipc/pool/arena.h"
#include "support/result.h"
#include "support/threads.h"

namespace halyard::ipc {
namespace {

Parcel offer_of(std::uint64_t arena_id, const Fd& state, const Fd& memory) {
  Parcel offer = Parcel::of(ArenaOffer{arena_id, {.slots = 1, .pool_id = 1, .index = 0}});
  offer.fds.push_back(*state.duplicate());
  offer.fds.push_back(*memory.duplicate());
  return offer;
}

// The last owner of the one may be the thread that looks for the other.
TEST(BorrowedArena, two_owners_that_name_the_same_arena_come_and_go) {
  const auto node = Node::get();
  ASSERT_OK(node);
  const auto state = create_sealed_memory("state", arena_state_bytes(1));
  const auto memory = create_sealed_memory("memory", 4096);
  ASSERT_OK(state);
  ASSERT_OK(memory);
  test::on_threads(6, [&](std::size_t thread) {
    const std::uint64_t who = thread % 2;
    for (int i = 0; i < 3000; ++i) {
      const auto arena = BorrowedArena::accept(*node, {1, who}, offer_of(7, *state, *memory));
      ASSERT_OK(arena);
      EXPECT_EQ((*arena)->identity().node, (NodeId{1, who}));
    }
  });
}

}  // namespace
}  // namespace halyard::ipc
