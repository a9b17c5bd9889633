// SPDX-License-Identifier: Apache-2.0
// The processes that kill_test.cpp kills.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "ipc/peer.h"
#include "kill.h"

namespace halyard {
namespace {

using namespace ipc::testing;
using namespace std::chrono_literals;

// Does what comes to its mind on topics NAME/0 to NAME/2 and a pool, until it is told otherwise;
// `arguments` are the name and a number. Says how many frames it has received, and that it is idle:
// then it holds nothing.
TEST(Peer, DISABLED_worker) {
  std::istringstream arguments(Peer::arguments());
  std::string name;
  std::uint64_t seed = 0;
  arguments >> name >> seed;
  std::mt19937_64 random(seed);
  std::atomic<bool> stops{false};
  std::uint64_t frames = 0;
  std::uint64_t torn = 0;
  std::thread listener([&] {
    Peer::next();
    stops = true;
  });
  {
    std::optional<Topic<Tensor>> topics[3];
    std::shared_ptr<TensorPool> pool;
    std::vector<TensorHandle> held;
    const auto do_something = [&] {
      auto& topic = topics[random() % 3];
      const auto choice = random() % 100;
      if (!topic || choice == 0) {
        topic.reset();
        TopicConfig config = small_topic();
        config.role = static_cast<TopicRole>(1 + random() % 3);
        auto made = Topic<Tensor>::create(name + "/" + std::to_string(&topic - topics), config);
        if (made) topic.emplace(*std::move(made));
      } else if (choice == 1) {
        topic.reset();
      } else if (choice == 2) {
        pool.reset();
      } else if (choice < 5) {
        if (auto made = TensorPool::create(9, *small_topic().pool)) pool = *made;
      } else if (choice < 10 && pool) {
        if (auto handle = pool->alloc({1 + random() % 5000}, DType::u64)) {
          fill(*handle, random());
          held.push_back(*handle);
        }
      } else if (choice < 40) {
        auto handle = topic->alloc_tensor({8 + random() % 2000}, DType::u64);
        if (handle) fill(*handle, random());
        if (handle) static_cast<void>(topic->send(*handle).has_value());
      } else if (choice < 45 && !held.empty()) {
        static_cast<void>(topic->send(held[random() % held.size()]).has_value());
      } else if (choice < 60 || held.size() > 20) {
        held.clear();
      } else if (choice < 62) {
        static_cast<void>(topic->wait_for(1ms));
      } else {
        auto got = topic->recv_handle();
        if (!got) return;
        ++frames;
        torn += is_whole(*got) ? 0 : 1;
        held.push_back(*got);
      }
    };
    while (!stops)
      do_something();
    for (const TensorHandle& handle : held)
      torn += is_whole(handle) ? 0 : 1;
    held.clear();
    std::uint64_t used = 0;
    const auto count_used = [&] {
      // Nobody sends any more: what is unread is read, what was sent goes with the endpoint.
      used = pool ? pool->stats().allocated_slots : 0;
    };
    for (auto& topic : topics)
      topic.reset();
    count_used();
    Peer::tell("idle " + std::to_string(frames) + " torn " + std::to_string(torn) + " used " +
               std::to_string(used));
    listener.join();
    Peer::next();
  }
  Peer::tell("left");
}

// Opens pool `arguments` when it is told to, and says whether it has made it.
TEST(Peer, DISABLED_pool_racer) {
  const auto id = static_cast<std::uint32_t>(std::stoul(Peer::arguments()));
  static_cast<void>(TensorPool::create(1000 + id % 7));
  Peer::tell("ready");
  while (!Peer::next().empty()) {
    {
      const auto pool = TensorPool::create(id, TensorPoolConfig::small());
      Peer::tell(!pool ? "error " + pool.error().message()
                       : std::string((*pool)->is_owner() ? "made" : "opened"));
      Peer::next();
    }
    Peer::tell("closed");
  }
}

}  // namespace
}  // namespace halyard
