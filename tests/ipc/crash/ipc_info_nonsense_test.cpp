// SPDX-License-Identifier: Apache-2.0
// An observer who is told nonsense.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <functional>

#include "base/system/mapped.h"
#include "halyard/ipc_info.h"
#include "ipc/node/node.h"
#include "ipc/node/registry.h"
#include "ipc/peer.h"
#include "ipc/pool/arena.h"
#include "ipc/pool/pool_look.h"
#include "ipc/topic/topic_service.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;

struct BadNumber {
  std::uint64_t value = 0;
};

class Strangers : public ::testing::Test {
 protected:
};

// Answers whatever a test wants, as a stranger might.
class StrangeService : public ipc::Service {
 public:
  std::function<Result<ipc::Parcel>()> says;
  Result<ipc::Parcel> answer(const ipc::NodeId&, std::uint32_t, ipc::Parcel) override {
    return says();
  }
  void forget(const ipc::NodeId&) override {}
};

ipc::Parcel with_fd(ipc::Parcel parcel, const Fd& fd) {
  parcel.fds.push_back(*fd.duplicate());
  return parcel;
}

TEST_F(Strangers, nonsense_of_a_pool_is_not_believed) {
  const auto node = *ipc::Node::get();
  const std::uint32_t id = 6999;
  const auto entry = *node->registry().enter("pools", std::to_string(id), false, Deadline(1s));
  ASSERT_TRUE(entry.set_text("pool_size 1048576\nmax_slots 8\nslot_alignment 64\n"));
  ASSERT_TRUE(entry.add(ipc::to_string(node->id()) + "-0"));
  const auto stranger = std::make_shared<StrangeService>();
  const std::string key = "pool/" + std::to_string(id);
  node->add(key, stranger);
  const auto arena = *ipc::Arena::create(
      "stranger", {.max_bytes = 1U << 20U, .slots = 8, .arena_id = 5, .pool_id = id});
  const Fd& state = arena->control().fd;
  const Fd unsealed = *create_shared_object();
  ASSERT_EQ(::ftruncate(unsealed.get(), 1 << 20), 0);
  const Fd small = *create_sealed_memory("small", 100);
  const Fd zeros = *create_sealed_memory("zeros", 1 << 20);
  const ipc::PoolLook good{{5, 0, 8, {1, 100}, 0, 0}, {{node->id(), {2, 200}}}};
  const auto edited = [&](auto edit) {
    ipc::PoolLook look = good;
    edit(look);
    return ipc::to_parcel(look);
  };
  const auto with_bytes = [&](auto edit) {
    ipc::Parcel parcel = with_fd(ipc::to_parcel(good), state);
    edit(parcel.bytes);
    return parcel;
  };
  const auto with_head = [&](auto edit) { return with_fd(edited(edit), state); };
  const std::vector<std::function<ipc::Parcel()>> cases = {
      [&] { return ipc::Parcel(); },
      [&] { return ipc::to_parcel(good); },
      [&] { return with_fd(with_fd(ipc::to_parcel(good), state), state); },
      [&] { return with_fd(ipc::to_parcel(good), unsealed); },
      [&] { return with_fd(ipc::to_parcel(good), small); },
      [&] { return with_fd(ipc::to_parcel(good), zeros); },
      [&] { return with_bytes([](auto& bytes) { bytes.pop_back(); }); },
      [&] { return with_bytes([](auto& bytes) { bytes.resize(8); }); },
      [&] { return with_bytes([](auto& bytes) { bytes[32] = std::byte{2}; }); },
      [&] { return with_head([](auto& look) { look.head.slots = 0; }); },
      [&] { return with_head([](auto& look) { look.head.slots = 7; }); },
      [&] { return with_head([](auto& look) { look.head.slots = 1U << 30U; }); },
      [&] { return with_head([](auto& look) { look.head.index = 3; }); },
      [&] { return with_head([](auto& look) { look.head.index = 300; }); },
      [&] { return with_head([](auto& look) { look.head.arena_id = 6; }); },
      [&] { return with_head([](auto& look) { look.head.own.slots = 9; }); },
      [&] { return with_head([](auto& look) { look.holders[0].holding.slots = 9; }); },
      [&] { return with_head([](auto& look) { look.holders.resize(257); }); }};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    stranger->says = cases[i];
    const auto pool = pool_info(id);
    ASSERT_TRUE(pool) << i << pool.error().message();
    EXPECT_TRUE(pool->parts.empty()) << i;
    ASSERT_EQ(pool->unobserved.size(), 1U) << i;
    EXPECT_EQ(pool->unobserved[0].process.pid, ::getpid());
  }
  // Numbers beyond all limits are cut to them.
  auto* const header = ipc::arena_header(arena->control().mapped.bytes());
  header->slots_used.store(UINT64_MAX, std::memory_order_relaxed);
  header->bytes_used.store(UINT64_MAX, std::memory_order_relaxed);
  stranger->says = [&] {
    return with_fd(edited([](auto& look) { look.holders[0].holding.bytes = UINT64_MAX; }), state);
  };
  const auto pool = *pool_info(id);
  ASSERT_EQ(pool.parts.size(), 1U);
  EXPECT_EQ(pool.used_slots(), 8U);
  EXPECT_EQ(pool.used_bytes(), 1U << 20U);
  EXPECT_EQ(pool.parts[0].borrowers[0].bytes, 1U << 20U);
  ASSERT_TRUE(entry.set_text("pool_size many"));
  EXPECT_FAILS(pool_info(id), Errc::corrupt);
  EXPECT_TRUE(list_pools()) << "one bad entry does not hide the others";
  node->remove(key, stranger.get());
  entry.remove(ipc::to_string(node->id()) + "-0");
}

TEST_F(Strangers, nonsense_of_a_topic_is_not_believed) {
  const std::string name = "stranger/topic";
  auto here = *Topic<BadNumber>::create(name, {.role = TopicRole::subscriber});
  const auto node = *ipc::Node::get();
  const auto stranger = std::make_shared<StrangeService>();
  node->add("topic/" + name, stranger);
  const Fd unsealed = *create_shared_object();
  ASSERT_EQ(::ftruncate(unsealed.get(), 1 << 20), 0);
  const Fd small = *create_sealed_memory("small", 100);
  const Fd zeros = *create_sealed_memory("zeros", 1 << 20);
  const auto facts = [](std::uint64_t id, std::uint32_t role) {
    return ipc::Parcel::of(ipc::EndpointFacts{id, role, 0});
  };
  const std::vector<std::function<ipc::Parcel()>> cases = {
      [] { return ipc::Parcel(); },
      [&] { return facts(1, 1); },
      [&] { return with_fd(facts(1, 1), zeros); },
      [&] { return with_fd(with_fd(facts(0, 1), zeros), zeros); },
      [&] { return with_fd(with_fd(facts(1, 0), zeros), zeros); },
      [&] { return with_fd(with_fd(facts(1, 4), zeros), zeros); },
      [&] { return with_fd(with_fd(facts(1, 1), zeros), zeros); },
      [&] { return with_fd(with_fd(facts(1, 1), small), zeros); },
      [&] { return with_fd(with_fd(facts(1, 1), unsealed), zeros); }};
  for (std::size_t i = 0; i < cases.size(); ++i) {
    stranger->says = cases[i];
    const auto topic = topic_info(name);
    ASSERT_TRUE(topic) << i << topic.error().message();
    EXPECT_EQ(topic->endpoints.size(), 1U) << i;
    EXPECT_EQ(topic->unobserved.size(), 1U) << i;
  }
  node->remove("topic/" + name, stranger.get());
}

}  // namespace
}  // namespace halyard
