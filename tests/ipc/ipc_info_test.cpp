// SPDX-License-Identifier: Apache-2.0
// What an observer sees of this process and of others.
#include "halyard/ipc_info.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "halyard/pool.h"
#include "ipc/helpers.h"
#include "ipc/node/node.h"
#include "ipc/node/registry.h"
#include "ipc/peer.h"
#include "ipc/pool/descriptor_text.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;
using test::value_of;

struct Number {
  std::uint64_t value = 0;
};

class IpcInfo : public ::testing::Test {
 protected:
  static std::uint32_t next_id() {
    static std::uint32_t last = 7000;
    return ++last;
  }
  static std::string next_name() {
    static int last = 0;
    return "observed/topic_" + std::to_string(++last);
  }
  static const PoolPartInfo* part_of(const PoolInfo& pool, pid_t pid) {
    for (const PoolPartInfo& part : pool.parts)
      if (part.owner.pid == pid) return &part;
    return nullptr;
  }
  static const TopicEndpointInfo* endpoint_of(const TopicInfo& topic, pid_t pid) {
    for (const TopicEndpointInfo& endpoint : topic.endpoints)
      if (endpoint.process.pid == pid) return &endpoint;
    return nullptr;
  }
};

TEST_F(IpcInfo, says_who_holds_what_of_a_pool) {
  const auto pool = *TensorPool::create(next_id(), {.pool_size = 1U << 20U, .max_slots = 16});
  Peer peer("pool_member", std::to_string(pool->pool_id()), "open");
  auto handle = *pool->alloc({1000}, DType::u8);
  const auto kept = *pool->alloc({500}, DType::u8);
  ASSERT_EQ(peer.ask("attach " + to_hex(*handle.descriptor())).substr(0, 4), "byte");
  ASSERT_NE(peer.ask("alloc 3000").substr(0, 5), "error");
  handle = {};
  const auto seen = value_of(pool_info(pool->pool_id()));
  EXPECT_EQ(seen.pool_size, 1U << 20U);
  EXPECT_EQ(seen.max_slots, 16U);
  EXPECT_EQ(seen.used_slots(), 3U);
  EXPECT_GE(seen.used_bytes(), 4500U);
  EXPECT_TRUE(seen.unobserved.empty());
  ASSERT_EQ(seen.parts.size(), 2U);
  const PoolPartInfo* const mine = part_of(seen, ::getpid());
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(mine->index, 0U);
  EXPECT_EQ(mine->used_slots, 2U);
  EXPECT_EQ(mine->held_slots, 1U);
  EXPECT_EQ(mine->held_bytes, 500U);
  ASSERT_EQ(mine->borrowers.size(), 1U);
  EXPECT_EQ(mine->borrowers[0].process.pid, peer.pid());
  EXPECT_EQ(mine->borrowers[0].slots, 1U);
  EXPECT_EQ(mine->borrowers[0].bytes, 1000U);
  const PoolPartInfo* const theirs = part_of(seen, peer.pid());
  ASSERT_NE(theirs, nullptr);
  EXPECT_EQ(theirs->used_slots, 1U);
  EXPECT_EQ(theirs->held_bytes, 3000U);
  EXPECT_TRUE(theirs->borrowers.empty());
  // What is given back counts as free although its owner has not looked.
  ASSERT_EQ(peer.ask("drop"), "dropped");
  const auto after = *pool_info(pool->pool_id());
  EXPECT_EQ(after.used_slots(), 1U);
  EXPECT_TRUE(part_of(after, ::getpid())->borrowers.empty()) << "it has no use for the part";
}

TEST_F(IpcInfo, counts_what_a_pool_refuses) {
  const auto pool = *TensorPool::create(next_id(), {.pool_size = 1U << 20U, .max_slots = 1});
  const auto handle = *pool->alloc({100}, DType::u8);
  EXPECT_FALSE(pool->alloc({100}, DType::u8));
  const auto seen = *pool_info(pool->pool_id());
  EXPECT_EQ(seen.failed_allocations(), 1U);
  EXPECT_GE(seen.reserved_bytes(), seen.used_bytes());
  EXPECT_GE(seen.parts[0].peak_used_bytes, 100U);
}

TEST_F(IpcInfo, lists_pools_of_living_processes) {
  const std::uint32_t id = next_id();
  EXPECT_FAILS(pool_info(id), Errc::not_found);
  const auto pool = *TensorPool::create(id, TensorPoolConfig::small());
  const std::uint32_t other = next_id();
  const auto find = [](std::uint32_t wanted) {
    const auto pools = *list_pools();
    return std::any_of(pools.begin(), pools.end(),
                       [&](const PoolInfo& info) { return info.id == wanted; });
  };
  EXPECT_TRUE(find(id));
  EXPECT_FALSE(find(other));
  EXPECT_EQ(pool->stats().processes, 1U) << "an observer takes no part";
}

TEST_F(IpcInfo, says_how_far_subscribers_have_read) {
  const std::string name = next_name();
  auto sender = *Topic<Tensor>::create(name, {.depth = 4, .history = 2});
  Peer peer("tensor_endpoint", name, "joined");
  for (int i = 0; i < 7; ++i)
    ASSERT_TRUE(sender.send(*sender.alloc_tensor({100}, DType::u8)));
  ASSERT_EQ(peer.ask("recv 1000").substr(0, 5), "frame");
  const auto topic = value_of(topic_info(name));
  EXPECT_EQ(topic.type.name, "halyard.Tensor");
  EXPECT_TRUE(topic.type.has_frame);
  EXPECT_EQ(topic.depth, 4U);
  EXPECT_EQ(topic.history, 2U);
  EXPECT_EQ(topic.overflow, Overflow::drop_oldest);
  EXPECT_EQ(topic.publishers(), 2U);
  EXPECT_EQ(topic.subscribers(), 2U);
  const TopicEndpointInfo* const mine = endpoint_of(topic, ::getpid());
  const TopicEndpointInfo* const theirs = endpoint_of(topic, peer.pid());
  ASSERT_TRUE(mine != nullptr && theirs != nullptr);
  EXPECT_EQ(mine->role, TopicRole::both);
  EXPECT_EQ(mine->sent, 7U);
  EXPECT_EQ(mine->sent_bytes, 7 * (100U + topic.type.inline_bytes));
  EXPECT_EQ(mine->received(), 0U);
  EXPECT_EQ(theirs->sent, 0U);
  EXPECT_EQ(theirs->received(), 1U);
  EXPECT_EQ(theirs->lost(), 3U);
  ASSERT_EQ(theirs->readers.size(), 1U);
  EXPECT_EQ(theirs->readers[0].publisher, mine->id);
  EXPECT_EQ(theirs->readers[0].waiting, 3U);
  EXPECT_EQ(sender.stats().subscribers, 1U) << "an observer takes no part";
  // The peer holds one frame of the sender's part.
  const auto pool = *pool_info(topic.pool_id);
  const PoolPartInfo* const part = part_of(pool, ::getpid());
  ASSERT_NE(part, nullptr);
  ASSERT_EQ(part->borrowers.size(), 1U);
  EXPECT_EQ(part->borrowers[0].slots, 1U);
}

TEST_F(IpcInfo, says_who_waits_and_what_is_refused) {
  const std::string name = next_name();
  TopicConfig config{.depth = 1, .overflow = Overflow::drop_newest, .role = TopicRole::publisher};
  auto sender = *Topic<Number>::create(name, config);
  config.role = TopicRole::subscriber;
  auto receiver = *Topic<Number>::create(name, config);
  ASSERT_TRUE(sender.send({1}));
  EXPECT_FALSE(sender.send({2}));
  const auto find = [&](TopicRole role) {
    const auto topic = *topic_info(name);
    return *std::find_if(topic.endpoints.begin(), topic.endpoints.end(),
                         [&](const auto& endpoint) { return endpoint.role == role; });
  };
  EXPECT_EQ(find(TopicRole::publisher).refused, 1U);
  EXPECT_EQ(find(TopicRole::publisher).sent_bytes, sizeof(Number));
  EXPECT_FALSE(find(TopicRole::subscriber).waits_for_message);
  ASSERT_TRUE(receiver.recv());
  std::thread waiter([&] { EXPECT_TRUE(receiver.recv_for(20s)); });
  EXPECT_TRUE(comes_true([&] { return find(TopicRole::subscriber).waits_for_message; }));
  ASSERT_TRUE(sender.send({3}));
  waiter.join();
}

TEST_F(IpcInfo, lists_topics_of_living_processes) {
  const std::string name = next_name();
  EXPECT_FAILS(topic_info(name), Errc::not_found);
  EXPECT_FAILS(topic_info("a b"), Errc::invalid_argument);
  EXPECT_FAILS(topic_info("../nodes"), Errc::invalid_argument);
  const auto has = [&] {
    const auto topics = *list_topics();
    return std::any_of(topics.begin(), topics.end(),
                       [&](const TopicInfo& topic) { return topic.name == name; });
  };
  EXPECT_FALSE(has());
  {
    Peer peer("tensor_endpoint", name, "joined");
    EXPECT_TRUE(has());
    peer.kill();
  }
  EXPECT_FALSE(has());
  EXPECT_FAILS(topic_info(name), Errc::not_found);
}

TEST_F(IpcInfo, names_processes_that_do_not_answer) {
  const std::string name = next_name();
  auto here = *Topic<Tensor>::create(name);
  Peer peer("tensor_endpoint", name, "joined");
  peer.kill(SIGSTOP);
  const auto topic = value_of(topic_info(name));
  EXPECT_EQ(topic.endpoints.size(), 1U);
  ASSERT_EQ(topic.unobserved.size(), 1U);
  EXPECT_EQ(topic.unobserved[0].process.pid, peer.pid());
  EXPECT_EQ(topic.unobserved[0].error.code, Errc::timeout);
  peer.kill(SIGCONT);
  // The answer that came too late is passed over.
  const auto again = *topic_info(name);
  EXPECT_EQ(again.endpoints.size(), 2U);
  EXPECT_TRUE(again.unobserved.empty());
}

TEST_F(IpcInfo, does_not_wait_for_who_enters) {
  const std::string name = next_name();
  auto here = *Topic<Number>::create(name);
  const auto node = *ipc::Node::get();
  const auto locked =
      value_of(node->registry().enter("topics", ipc::folder_name(name), true, Deadline(1s)));
  EXPECT_TRUE(topic_info(name));
  const auto removed = value_of(collect_garbage());
  EXPECT_EQ(removed.skipped, 1U);
}

}  // namespace
}  // namespace halyard
