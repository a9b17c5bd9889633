// SPDX-License-Identifier: Apache-2.0
// What a forked child knows of the threads and the locks that its parent had.
#include "base/system/fork.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/system/shared_object.h"
#include "halyard/log.h"
#include "halyard/threads.h"
#include "halyard/trace.h"
#include "support/in_child.h"
#include "support/own_process.h"
#include "support/thread_gate.h"

namespace halyard {
namespace {

using namespace std::chrono_literals;
using test::Inside;
using test::is_true_in_child;

TEST(Fork, DISABLED_starts_threads) {
  EXPECT_FALSE(is_true_in_child(threads_are_lost));
  threads_start();
  threads_start();
  EXPECT_TRUE(is_true_in_child(threads_are_lost));
  EXPECT_FALSE(threads_are_lost());
}

// Other tests of this process may have started some.
TEST(Fork, loses_threads_that_were_started_before_it) {
  EXPECT_PASSES_APART("Fork", "starts_threads");
}

TEST(Fork, counts_generations) {
  const std::uint32_t ours = fork_generation();
  EXPECT_TRUE(is_true_in_child([&] {
    return fork_generation() == ours + 1 &&
           is_true_in_child([&] { return fork_generation() == ours + 2; });
  }));
  EXPECT_EQ(fork_generation(), ours);
}

TEST(Fork, a_child_makes_what_another_thread_of_its_parent_was_making) {
  static std::atomic<int*> place;
  place = nullptr;
  Inside inside;
  EXPECT_TRUE(inside.is_true_in_child_meanwhile(
      [&] {
        made_once(place, [&] {
          inside.wait();
          return new int(1);
        });
      },
      [&] { return made_once(place, [] { return new int(2); }) == 2; }));
  EXPECT_EQ(made_once(place, [] { return new int(3); }), 1);
}

TEST(Fork, a_child_does_not_wait_for_a_log_sink_that_its_parent_was_in) {
  Inside inside;
  set_log_sink([&](LogLevel, std::string_view, std::string_view) { inside.wait(); });
  EXPECT_TRUE(inside.is_true_in_child_meanwhile([] { log(LogLevel::error, "test", "held"); },
                                                [] {
                                                  log(LogLevel::error, "test", "child");
                                                  set_log_sink(nullptr);
                                                  return true;
                                                }));
  set_log_sink(nullptr);
}

// The loader is in the middle of its tables then, and the child finds them so.
TEST(Fork, waits_for_another_thread_that_loads_a_shared_object) {
  std::atomic<bool> has_begun{false}, has_ended{false};
  std::thread thread([&] {
    const LoadingTurn turn;
    has_begun = true;
    std::this_thread::sleep_for(50ms);
    has_ended = true;
  });
  while (!has_begun)
    std::this_thread::yield();
  EXPECT_TRUE(is_true_in_child([&] {
    const LoadingTurn turn;  // the parent's threads do not hold it here
    return has_ended.load();
  }));
  thread.join();
}

TEST(Fork, does_not_wait_for_a_load_of_its_own_thread) {
  const LoadingTurn turn;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(is_true_in_child([] { return is_true_in_child([] { return true; }); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Fork, children_load_shared_objects_whatever_their_parents_threads_load) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator stays locked in a child of several threads";
#endif
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!is_over)
        EXPECT_FALSE(SharedObject::open("libhalyard_none.so.7", "none"));
    });
  }
  bool is_whole = true;
  for (int n = 0; n < 150 && is_whole; ++n)
    is_whole = is_true_in_child(
        [] { return !SharedObject::open("libhalyard_none.so.7", "none").has_value(); });
  EXPECT_TRUE(is_whole);
  is_over = true;
  for (std::thread& thread : threads)
    thread.join();
}

TEST(ForkMutex, tells_a_child_that_its_holder_is_lost) {
  ForkMutex mutex;
  Inside inside;
  EXPECT_TRUE(inside.is_true_in_child_meanwhile(
      [&] {
        const ForkLock lock(mutex);
        inside.wait();
      },
      [&] { return !mutex.lock() && !mutex.try_lock() && !ForkLock(mutex); }));
  EXPECT_TRUE(mutex.lock());
  mutex.unlock();
}

TEST(ForkMutex, can_be_taken_over_from_a_holder_that_is_lost) {
  ForkMutex mutex;
  Inside inside;
  EXPECT_TRUE(inside.is_true_in_child_meanwhile(
      [&] {
        const ForkTakingLock lock(mutex);
        inside.wait();
      },
      [&] {
        {
          const ForkTakingLock lock(mutex);
          if (mutex.try_lock()) return false;
        }
        return mutex.try_lock();
      }));
  EXPECT_TRUE(mutex.try_lock()) << "the parent's lock has ended";
  mutex.unlock();
}

TEST(ForkMutex, can_be_locked_in_a_child_when_nobody_held_it) {
  ForkMutex mutex;
  EXPECT_TRUE(mutex.lock());
  mutex.unlock();
  EXPECT_TRUE(is_true_in_child([&] {
    if (!mutex.lock() || mutex.try_lock()) return false;
    mutex.unlock();
    return mutex.try_lock();
  }));
}

TEST(ForkMutex, lets_one_thread_in_at_a_time_and_wakes_all_that_wait) {
  ForkMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const ForkLock lock(mutex);
        count += lock ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(count, 40000);
}

TEST(StartableThreads, DISABLED_are_proven) {
  EXPECT_EQ(startable_threads(0), 0U);
  {
    const test::ThreadLimit limit(3);
    EXPECT_EQ(startable_threads(2), 2U);
    EXPECT_EQ(startable_threads(20), 3U);
    EXPECT_EQ(limit.refused(), 1);
  }
  {
    const test::ThreadLimit limit(0);
    EXPECT_EQ(startable_threads(3), 3U) << "what was found is not asked for again";
    EXPECT_EQ(startable_threads(4), 0U);
  }
  EXPECT_EQ(startable_threads(8), 8U);
}

// What other tests have started is known in this process.
TEST(StartableThreads, are_as_many_as_the_system_starts) {
  EXPECT_PASSES_APART("StartableThreads", "are_proven");
}

}  // namespace
}  // namespace halyard
