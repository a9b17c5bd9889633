// SPDX-License-Identifier: Apache-2.0
// Many threads on the same pools and topics: written for ThreadSanitizer, and for what must be true
// of any number of them.
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "halyard/topic.h"
#include "ipc/peer.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;
using ipc::testing::comes_true;

struct Numbered {
  std::uint64_t sender = 0;
  std::uint64_t number = 0;
};

class Threads : public ::testing::Test {
 protected:
  static TopicConfig with_depth(std::uint32_t depth, Overflow overflow, TopicRole role) {
    const TopicConfig config{.depth = depth, .overflow = overflow, .role = role};
    return config;
  }
};

// Two endpoints, each used by several threads: each message goes to one thread of a subscriber.
TEST_F(Threads, share_endpoints) {
  constexpr std::uint64_t count = 3000;
  constexpr std::uint64_t senders = 3;
  auto sender = *Topic<Numbered>::create("threads/share",
                                         with_depth(8, Overflow::block, TopicRole::publisher));
  auto receiver = *Topic<Numbered>::create("threads/share",
                                           with_depth(8, Overflow::block, TopicRole::subscriber));
  std::atomic<std::uint64_t> received{0};
  std::mutex mutex;
  std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
  std::vector<std::thread> threads;
  for (std::uint64_t s = 0; s < senders; ++s) {
    threads.emplace_back([&, s] {
      for (std::uint64_t i = 0; i < count; ++i)
        EXPECT_TRUE(sender.send_for({s, i}, 60s));
    });
  }
  for (int r = 0; r < 3; ++r) {
    threads.emplace_back([&] {
      while (received < senders * count) {
        const auto got = receiver.recv_for(10ms);
        if (!got) continue;
        ++received;
        const std::lock_guard lock(mutex);
        EXPECT_TRUE(seen.emplace(got->sender, got->number).second) << "comes once";
      }
    });
  }
  threads.emplace_back([&] {
    while (received < senders * count) {
      EXPECT_EQ(receiver.stats().publishers, 1U);
      EXPECT_EQ(sender.stats().subscribers, 1U);
      std::this_thread::sleep_for(1ms);
    }
  });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(seen.size(), senders * count);
  EXPECT_EQ(receiver.stats().lost, 0U);
}

// An event loop, threads that wait and one that asks for the descriptor while they do.
TEST_F(Threads, wait_in_several_ways) {
  auto sender = *Topic<Numbered>::create(
      "threads/wait", with_depth(64, Overflow::drop_oldest, TopicRole::publisher));
  auto receiver = *Topic<Numbered>::create(
      "threads/wait", with_depth(64, Overflow::drop_oldest, TopicRole::subscriber));
  std::atomic<std::uint64_t> found{0};
  std::atomic<bool> stops{false};
  const auto receive = [&] {
    for (auto got = receiver.recv(); !got.is_empty(); got = receiver.recv())
      found += (got ? 1 : 0) + got.lost();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stops)
        if (receiver.wait_for(5ms)) receive();
    });
  }
  threads.emplace_back([&] {
    std::this_thread::sleep_for(20ms);
    const int fd = receiver.fd();
    while (!stops) {
      pollfd poll = {fd, POLLIN, 0};
      ::poll(&poll, 1, 5);
      receive();
    }
  });
  for (std::uint64_t i = 0; i < 2000; ++i) {
    ASSERT_TRUE(sender.send({0, i}));
    if (i % 20 == 0) std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(comes_true([&] { return found >= 2000; }));
  stops = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(found, 2000U);
}

// Endpoints and pools come and go while others send frames and hold them.
TEST_F(Threads, come_and_go) {
  std::atomic<bool> stops{false};
  std::atomic<std::uint64_t> frames{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      std::optional<Topic<Tensor>> topic;
      std::vector<TensorHandle> held;
      while (!stops) {
        const auto choice = random() % 50;
        if (!topic || choice == 0) {
          topic.reset();
          auto made = Topic<Tensor>::create("threads/go",
                                            with_depth(4, Overflow::drop_oldest, TopicRole::both));
          ASSERT_TRUE(made) << made.error().message();
          topic.emplace(*std::move(made));
        } else if (choice < 20) {
          auto handle = topic->alloc_tensor({16}, DType::u64);
          ASSERT_TRUE(handle) << handle.error().message();
          const std::uint64_t value = random();
          const std::span<std::uint64_t> words = *handle->data_as<std::uint64_t>();
          std::fill(words.begin(), words.end(), value);
          ASSERT_TRUE(topic->send(*handle));
        } else if (choice < 23) {
          held.clear();
        } else if (choice == 24) {
          static_cast<void>(topic->stats());
        } else if (choice == 25) {
          const auto pool = TensorPool::create(77, TensorPoolConfig::small());
          ASSERT_TRUE(pool) << pool.error().message();
          static_cast<void>((*pool)->stats());
        } else if (auto got = topic->recv_handle()) {
          ++frames;
          const auto words = *got->data_as<const std::uint64_t>();
          for (const std::uint64_t word : words)
            ASSERT_EQ(word, words[0]);
          held.push_back(*got);
          if (held.size() > 10) held.clear();
        }
      }
    });
  }
  EXPECT_TRUE(comes_true([&] { return frames >= 1000; }));
  stops = true;
  for (std::thread& thread : threads)
    thread.join();
}

// N subscribers hold a frame: one that lets go takes it from nobody else.
TEST_F(Threads, hold_frames_alone) {
  const std::string name = "threads/hold";
  auto sender =
      *Topic<Tensor>::create(name, with_depth(2, Overflow::drop_oldest, TopicRole::publisher));
  std::vector<Topic<Tensor>> receivers;
  for (int i = 0; i < 8; ++i) {
    receivers.push_back(
        *Topic<Tensor>::create(name, with_depth(2, Overflow::drop_oldest, TopicRole::subscriber)));
  }
  auto handle = std::optional(*sender.alloc_tensor({8}, DType::u64));
  (*handle->data_as<std::uint64_t>())[0] = 42;
  ASSERT_TRUE(sender.send(*handle));
  std::vector<std::optional<TensorHandle>> held;
  for (auto& receiver : receivers) {
    const auto got = receiver.recv_handle();
    ASSERT_TRUE(got);
    held.emplace_back(*got);
  }
  EXPECT_GE(handle->refcount(), 9U);
  handle.reset();
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(sender.send(*sender.alloc_tensor({8}, DType::u64)));
  while (!held.empty()) {
    for (const auto& frame : held)
      EXPECT_EQ((*frame->data_as<const std::uint64_t>())[0], 42U);
    held.pop_back();
  }
  for (auto& receiver : receivers)
    while (!receiver.recv().is_empty()) {
    }
  ASSERT_TRUE(sender.send(*sender.alloc_tensor({8}, DType::u64)));
  EXPECT_LE((*sender.pool())->stats().allocated_slots, 2U) << "the window";
}

}  // namespace
}  // namespace halyard
