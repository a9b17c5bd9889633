// SPDX-License-Identifier: Apache-2.0
// Processes that are killed at any time: what they held comes back, nothing of them stays, and the
// others go on. HALYARD_KILLS=n kills n times (300 otherwise) and prints a line of figures:
//   HALYARD_KILLS=100000 halyard_test_ipc --gtest_filter=Kill.at_any_time
// The processes that are killed: kill_roles.cpp.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <random>
#include <thread>

#include "halyard/topic.h"
#include "ipc/helpers.h"
#include "ipc/node/node.h"
#include "ipc/peer.h"
#include "kill.h"
#include "stranger.h"
#include "support/own_process.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;
using namespace ipc::testing;
using test::value_of;

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  // What is shared is what could be somebody else's; heaps grow and shrink.
  for (std::string line; std::getline(maps, line);)
    count += line.find("memfd:") != std::string::npos ? 1 : 0;
  return count;
}

class Kill : public ::testing::Test {
 protected:
  static std::size_t files() {
    const std::string root = Registry::open()->path();
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
      count += entry.is_directory() ? 0 : 1;
    return count;
  }
  using Registry = ipc::Registry;
};

// Workers come, are killed and come again; an observer, this process, sees them come and go.
TEST_F(Kill, DISABLED_loop) {
  const char* const wanted = std::getenv("HALYARD_KILLS");
  const std::uint64_t kills_wanted = wanted != nullptr ? std::stoull(wanted) : 300;
  constexpr std::size_t count = 4;
  constexpr std::uint64_t kills_of_a_round = 50;
  const std::string name = "kill";
  std::mt19937_64 random(kills_wanted);
  std::uint64_t kills = 0;
  std::uint64_t frames = 0;
  std::uint64_t observed = 0;
  std::uint64_t leaks = 0;
  std::optional<std::size_t> level_fds;
  std::optional<std::size_t> level_maps;
  Topic<Tensor> observer = *Topic<Tensor>::create(name + "/0", small_topic());
  const auto pool = *observer.pool();
  const auto own_pool = *TensorPool::create(9, *small_topic().pool);
  const auto begin = std::chrono::steady_clock::now();
  while (kills < kills_wanted && !HasFailure()) {
    std::vector<std::unique_ptr<Peer>> workers(count);
    const auto start = [&](std::size_t i) {
      workers[i] = std::make_unique<Peer>("worker", name + " " + std::to_string(random()));
    };
    for (std::size_t i = 0; i < count; ++i)
      start(i);
    std::vector<TensorHandle> held;
    for (std::uint64_t k = 0; k < kills_of_a_round && kills < kills_wanted; ++k) {
      // Some die while they begin, others in the middle of their work.
      const auto sleep =
          std::chrono::microseconds(random() % (random() % 4 == 0 ? 10'000 : 40'000));
      const auto end = std::chrono::steady_clock::now() + sleep;
      while (std::chrono::steady_clock::now() < end) {
        if (auto got = observer.recv_handle()) {
          ++observed;
          EXPECT_TRUE(is_whole(*got));
          held.push_back(*got);
        }
        if (random() % 8 == 0) held.clear();
        if (random() % 4 == 0) {
          if (auto handle = observer.alloc_tensor({100}, DType::u64)) {
            fill(*handle, random());
            EXPECT_TRUE(observer.send(*handle));
          }
        }
        std::this_thread::sleep_for(200us);
      }
      const std::size_t victim = random() % count;
      workers[victim]->kill();
      ++kills;
      for (const TensorHandle& handle : held)
        EXPECT_TRUE(is_whole(handle)) << "frames outlive their process";
      start(victim);
    }
    // The survivors come to rest.
    for (const auto& worker : workers)
      worker->say("stop");
    for (const auto& worker : workers) {
      const std::string said = worker->hear();
      unsigned long long got = 0;
      unsigned long long torn = 0;
      unsigned long long used = 0;
      EXPECT_EQ(std::sscanf(said.c_str(), "idle %llu torn %llu used %llu", &got, &torn, &used), 3)
          << said;
      EXPECT_EQ(torn, 0U);
      frames += got;
    }
    held.clear();
    while (!observer.recv().is_empty()) {
    }
    EXPECT_EQ(observer.stats().corrupt, 0U) << observer.stats().last_error.message();
    // They talk to each other: a fresh one's frame comes here.
    {
      Peer fresh("tensor_endpoint", name + "/0", "joined");
      EXPECT_EQ(fresh.ask("send 5"), "sent");
      const auto got = observer.recv_for(10s);
      EXPECT_TRUE(got) << observer.stats().last_error.message();
      const auto handle = *observer.alloc_tensor({8}, DType::u64);
      EXPECT_TRUE(observer.send(handle));
      EXPECT_EQ(fresh.ask("recv 10000").substr(0, 5), "frame");
    }
    for (const auto& worker : workers)
      worker->say("leave");
    for (const auto& worker : workers)
      EXPECT_EQ(worker->hear(), "left");
    workers.clear();
    // Nobody but this process is there: all it has is its own again.
    EXPECT_TRUE(comes_true([&] { return observer.stats().subscribers == 0; }));
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(observer.send(*observer.alloc_tensor({8}, DType::u64)));
    while (!observer.recv().is_empty()) {
    }
    const bool is_back = comes_true([&] {
      const auto stats = pool->stats();
      return stats.allocated_slots == 0 && stats.used_bytes == 0 && stats.processes == 1 &&
             own_pool->stats().processes == 1 && own_pool->stats().allocated_slots == 0;
    });
    EXPECT_TRUE(is_back) << pool->stats().summary() << own_pool->stats().summary();
    // Files: what a new process finds, it cleans. Own: the node, two members of pools and one of a
    // topic, and the texts of these three.
    {
      Peer last("tensor_endpoint", name + "/last", "joined");
      last.say("");
      EXPECT_TRUE(last.end());
    }
    EXPECT_TRUE(comes_true([&] { return files() == 7; })) << files();
    if (!level_fds) {
      std::this_thread::sleep_for(100ms);
      static_cast<void>(observer.recv().is_empty());
      level_fds = open_descriptors();
      level_maps = mappings();
    }
    // What is known of processes that have ended goes when the observer looks again.
    const bool is_level = comes_true([&] {
      static_cast<void>(observer.recv().is_empty());
      return open_descriptors() <= *level_fds && mappings() <= *level_maps;
    });
    EXPECT_TRUE(is_level) << open_descriptors() << " descriptors, were " << *level_fds << "; "
                          << mappings() << " mappings, were " << *level_maps;
    leaks += is_level && is_back ? 0 : 1;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "[  kills   ] %llu kills, %llu frames received by survivors, %llu by the observer, %llu "
      "leaks, %.0f s\n",
      static_cast<unsigned long long>(kills), static_cast<unsigned long long>(frames),
      static_cast<unsigned long long>(observed), static_cast<unsigned long long>(leaks),
      took.count());
}

// It counts the files of a registry that nothing else in its process has used.
TEST_F(Kill, at_any_time) {
  EXPECT_PASSES_APART("Kill", "loop");
}

// A stopped process is one that does not answer: others wait as long as is documented, no longer.
TEST_F(Kill, stopped_processes_hold_up_nobody) {
  using Clock = std::chrono::steady_clock;
  const std::string name = "stopped";
  auto one = *Topic<Tensor>::create(name, small_topic());
  ASSERT_TRUE(one.pool());
  Peer publisher("tensor_endpoint", name);
  Peer subscriber("tensor_endpoint", name);
  ASSERT_EQ(publisher.hear(), "joined");
  ASSERT_EQ(subscriber.hear(), "joined");
  auto two = *Topic<Tensor>::create(name, small_topic());
  ASSERT_EQ(publisher.ask("send 1"), "sent");
  ASSERT_TRUE(one.recv_for(10s));
  publisher.kill(SIGSTOP);
  subscriber.kill(SIGSTOP);
  // Bounds that a busy machine keeps, and waits for each message would not.
  const auto begin = Clock::now();
  for (int i = 0; i < 1000; ++i) {
    const auto handle = value_of(two.alloc_tensor({8}, DType::u64));
    ASSERT_TRUE(two.send(handle));
    ASSERT_TRUE(one.recv()) << one.stats().last_error.message();
  }
  // Its memory was not known to the subscriber, which was offered it once.
  EXPECT_LT(Clock::now() - begin, 60s);
  const auto join_begin = Clock::now();
  EXPECT_FAILS(Topic<Tensor>::create(name, small_topic()), Errc::timeout)
      << "cannot know what the stopped ones send";
  EXPECT_LT(Clock::now() - join_begin, 60s);
  const auto leave_begin = Clock::now();
  { const auto gone = std::move(two); }
  EXPECT_LT(Clock::now() - leave_begin, 60s);
  publisher.kill(SIGCONT);
  subscriber.kill(SIGCONT);
  EXPECT_EQ(publisher.ask("send 2"), "sent");
  EXPECT_TRUE(one.recv_for(10s)) << one.stats().last_error.message();
  EXPECT_TRUE((Topic<Tensor>::create(name, small_topic())));
}

// Processes that open a pool at the same moment agree on who has made it, also when one is killed
// while it does.
TEST_F(Kill, one_process_makes_a_pool) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Peer>> racers;
    for (int i = 0; i < 4; ++i)
      racers.push_back(std::make_unique<Peer>("pool_racer", "500"));
    for (const auto& racer : racers)
      ASSERT_EQ(racer->hear(), "ready");
    for (const auto& racer : racers)
      racer->say("open");
    if (round % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
      racers[random() % 4].reset();
      racers.erase(std::remove(racers.begin(), racers.end(), nullptr), racers.end());
    }
    int made = 0;
    for (const auto& racer : racers) {
      const std::string said = racer->hear();
      made += said == "made" ? 1 : 0;
      EXPECT_TRUE(said == "made" || said == "opened") << said;
    }
    // The one that was killed may have made it.
    EXPECT_GE(made, round % 2 == 0 ? 0 : 1);
    EXPECT_LE(made, 1);
    for (const auto& racer : racers)
      EXPECT_EQ(racer->ask("close"), "closed");
  }
}

// Endpoints that only send see publishers come and go for ever.
TEST_F(Kill, publishers_come_and_go_beside_one_that_never_receives) {
  const std::string name = "never_receives";
  TopicConfig config = small_topic();
  config.max_endpoints = 8;
  auto sender = *Topic<Tensor>::create(name, config);
  ASSERT_TRUE(sender.pool());
  // Of the last 8 that have ended: an endpoint's memory, and an arena's state, frames and loans.
  // How many arenas are there at a time depends on how soon each end is noticed.
  const std::size_t maximum = mappings() + std::size_t{8 + 1} * 4;
  for (int i = 0; i < 60; ++i) {
    Peer peer("tensor_endpoint", name);
    ASSERT_EQ(peer.hear(), "joined") << i;
    ASSERT_EQ(peer.ask("send 3"), "sent");
    ASSERT_LE(mappings(), maximum) << i;
  }
}

}  // namespace
}  // namespace halyard
