// SPDX-License-Identifier: Apache-2.0
// The order of the library's mutexes: a wrong one ends the process in builds with assertions.
#include "base/system/ranked_mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <string>
#include <thread>

#include "base/ranked_condition.h"
#include "halyard/log.h"
#include "halyard/trace.h"

namespace halyard {
namespace {

using OuterMutex = RankedMutex<LockRank::topic_send>;
using InnerMutex = RankedMutex<LockRank::pool_parts>;
using Leaf = RankedMutex<LockRank::leaf>;

// The wrappers cost nothing in builds without assertions.
static_assert(sizeof(OuterMutex) == sizeof(std::mutex));
static_assert(sizeof(RankedForkMutex<LockRank::leaf>) == sizeof(ForkMutex));
static_assert(sizeof(RankedCondition) == sizeof(std::condition_variable));
static_assert(sizeof(RankedForkLock<LockRank::leaf>) == sizeof(ForkLock));

template <class First, class Second>
void lock_both() {
  First first;
  Second second;
  const std::lock_guard outer(first);
  const std::lock_guard inner(second);
}

class LockOrder : public testing::Test {
 protected:
  void SetUp() override {
    if (!asserts_lock_ranks) GTEST_SKIP() << "this build has no assertions";
  }
};

TEST_F(LockOrder, a_wrong_order_ends_the_process_and_names_both) {
  EXPECT_DEATH((lock_both<InnerMutex, OuterMutex>()),
               "topic_send is locked while pool_parts is held");
}

TEST_F(LockOrder, two_mutexes_of_a_rank_are_never_held_together) {
  EXPECT_DEATH((lock_both<Leaf, Leaf>()), "leaf is locked while leaf is held");
}

TEST_F(LockOrder, a_fork_mutex_has_its_place_too) {
  EXPECT_DEATH(
      {
        RankedForkMutex<LockRank::importer> importer;
        RankedForkMutex<LockRank::device_buffer> buffer;
        const RankedForkLock outer(importer);
        const RankedForkTakingLock inner(buffer);
      },
      "device_buffer is locked while importer is held");
}

TEST_F(LockOrder, a_mutex_without_a_rank_gets_one_for_a_time) {
  EXPECT_DEATH(
      {
        const HeldRank<LockRank::leaf> claims;
        (lock_both<OuterMutex, InnerMutex>());
      },
      "topic_send is locked while leaf is held");
}

TEST_F(LockOrder, waiting_for_a_thread_counts_as_locking_its_mutexes) {
  EXPECT_DEATH(
      {
        const HeldRank<LockRank::device_buffer> buffer;
        may_lock<LockRank::gl_contexts>();
      },
      "gl_contexts is locked while device_buffer is held");
}

TEST_F(LockOrder, a_log_sink_that_traces_is_in_order_and_one_that_works_is_not) {
  const LogSink old = set_log_sink([](LogLevel, std::string_view, std::string_view) {
    trace::set_thread_name("sink");
    lock_both<OuterMutex, InnerMutex>();
  });
  EXPECT_DEATH(log(LogLevel::error, "base", "message"),
               "topic_send is locked while log_sink is held");
  set_log_sink(old);
}

TEST(RankedMutex, the_right_order_can_be_taken_again_and_ended_in_any_order) {
  OuterMutex first;
  InnerMutex second;
  for (int i = 0; i < 3; ++i) {
    std::unique_lock outer(first);
    std::unique_lock inner(second);
    outer.unlock();
    inner.unlock();
    lock_both<OuterMutex, InnerMutex>();
    lock_both<InnerMutex, Leaf>();
  }
}

TEST(RankedMutex, ranks_belong_to_threads) {
  Leaf leaf;
  const std::lock_guard lock(leaf);
  std::thread([] { lock_both<OuterMutex, InnerMutex>(); }).join();
}

TEST(RankedMutex, a_thread_waits_for_a_condition_and_still_holds_the_mutex) {
  Leaf mutex;
  RankedCondition changed;
  int step = 0;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return step == 1; });
    step = 2;
    changed.notify_all();
  });
  {
    std::unique_lock lock(mutex);
    EXPECT_FALSE(changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return step == 2; }));
    step = 1;
    changed.notify_one();
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::minutes(1), [&] { return step == 2; }));
    changed.wait_until(lock, std::chrono::steady_clock::now());
    EXPECT_TRUE(lock.owns_lock());
  }
  other.join();
  lock_both<OuterMutex, Leaf>();
}

}  // namespace
}  // namespace halyard
