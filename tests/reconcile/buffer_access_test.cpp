// SPDX-License-Identifier: Apache-2.0
// Locks and operations: who waits for whom, and what a wrong call says.
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "reconcile/agreed.h"
#include "reconcile/other_thread.h"
#include "support/allocations.h"
#include "support/in_child.h"
#include "support/special_values.h"

namespace halyard {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using namespace test;  // NOLINT: its helpers are what tests are written in

class BufferAccessTest : public ::testing::TestWithParam<const char*> {
 protected:
  NegotiatedBuffer buffer_ = one_buffer(tensor_in(GetParam()));
  OtherThread other_;
};
INSTANTIATE_TEST_SUITE_P(Heaps, BufferAccessTest, ::testing::Values("heap", "memfd"));

TEST_P(BufferAccessTest, what_one_lock_writes_the_next_reads) {
  {
    auto lock = value_of(buffer_.lock(Access::write));
    ASSERT_EQ(lock.writable_bytes().size(), 4096U);
    lock.writable_bytes()[77] = std::byte{42};
    EXPECT_TRUE(lock.unlock());
    EXPECT_TRUE(lock.bytes().empty()) << "the bytes are not the caller's any more";
  }
  const auto lock = value_of(buffer_.lock(Access::read));
  EXPECT_EQ(lock.bytes()[77], std::byte{42});
  EXPECT_TRUE(lock.writable_bytes().empty());
}

TEST_P(BufferAccessTest, readers_share_and_a_writer_waits_for_all_of_them) {
  auto mine = value_of(buffer_.lock(Access::read));
  other_.run([&] {
    EXPECT_TRUE(buffer_.lock(Access::read, at_once));
    EXPECT_EQ(error_of(buffer_.lock(Access::write, at_once)).code, Errc::timeout);
    EXPECT_EQ(error_of(buffer_.lock(Access::write, milliseconds(5))).code, Errc::timeout);
  });
  EXPECT_TRUE(mine.unlock());
  other_.run([&] { EXPECT_TRUE(buffer_.lock(Access::write, at_once)); });
}

TEST_P(BufferAccessTest, a_writer_keeps_all_others_out) {
  auto mine = value_of(buffer_.lock(Access::read_write));
  other_.run([&] {
    EXPECT_EQ(error_of(buffer_.lock(Access::read, at_once)).code, Errc::timeout);
    EXPECT_EQ(error_of(buffer_.lock(Access::write, at_once)).code, Errc::timeout);
  });
}

TEST_P(BufferAccessTest, a_waiting_writer_goes_on_when_the_reader_ends) {
  std::atomic<bool> has_written{false};
  auto mine = value_of(buffer_.lock(Access::read));
  std::thread writer([&] {
    const auto lock = value_of(buffer_.lock(Access::write));
    lock.writable_bytes()[0] = std::byte{9};
    has_written = true;
  });
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(has_written);
  EXPECT_TRUE(mine.unlock());
  writer.join();
  EXPECT_EQ(value_of(buffer_.lock(Access::read)).bytes()[0], std::byte{9});
}

TEST_P(BufferAccessTest, a_thread_cannot_lock_twice) {
  const auto mine = value_of(buffer_.lock(Access::read));
  EXPECT_FAILS(buffer_.lock(Access::read), Errc::busy, "this thread holds a lock");
}

TEST_P(BufferAccessTest, unlocking_what_is_not_locked_is_an_error) {
  EXPECT_FAILS(buffer_.unlock(), Errc::invalid_argument);
  auto mine = value_of(buffer_.lock(Access::read));
  EXPECT_TRUE(mine.unlock());
  EXPECT_FAILS(mine.unlock(), Errc::invalid_argument);
}

TEST(BufferAccess, errors_of_a_lock_that_is_over_name_its_party) {
  auto buffers = value_of(allocate_negotiated(agreed(tensor_in("heap")), {.party = "app"}));
  auto lock = value_of(buffers.at(0).lock(Access::read));
  EXPECT_TRUE(lock.unlock());
  EXPECT_EQ(error_of(lock.unlock()).message(), "unlock: the lock is over already: party \"app\"");
  EXPECT_EQ(error_of(lock.sync_range(0, 1)).message(),
            "sync_range: the lock is over already: party \"app\"");
}

TEST_P(BufferAccessTest, another_thread_cannot_unlock) {
  auto mine = value_of(buffer_.lock(Access::write));
  other_.run([&] {
    EXPECT_EQ(error_of(mine.unlock()).code, Errc::permission);
    EXPECT_EQ(error_of(buffer_.unlock()).code, Errc::permission);
  });
  mine.writable_bytes()[0] = std::byte{1};
  EXPECT_TRUE(mine.unlock()) << "the lock stayed";
}

TEST_P(BufferAccessTest, a_lock_that_dies_on_another_thread_ends) {
  std::optional<BufferLock> mine(value_of(buffer_.lock(Access::write)));
  other_.run([&] { mine.reset(); });
  EXPECT_TRUE(buffer_.lock(Access::write, at_once));
}

TEST_P(BufferAccessTest, a_kept_lock_stays_until_it_is_ended_by_its_thread) {
  value_of(buffer_.lock(Access::write)).keep();
  other_.run([&] { EXPECT_FALSE(buffer_.lock(Access::read, at_once)); });
  EXPECT_TRUE(buffer_.unlock());
  other_.run([&] { EXPECT_TRUE(buffer_.lock(Access::read, at_once)); });
}

TEST_P(BufferAccessTest, a_lock_keeps_the_buffer_alive) {
  std::weak_ptr<Buffer> memory;
  {
    auto lock = value_of(one_buffer(tensor_in(GetParam())).lock(Access::write));
    std::ranges::fill(lock.writable_bytes(), std::byte{1});
    EXPECT_EQ(lock.bytes()[4095], std::byte{1});
  }
  {
    auto buffer = one_buffer(tensor_in(GetParam()));
    memory = buffer.buffer();
    auto lock = value_of(buffer.lock(Access::read));
    buffer = one_buffer(tensor_in(GetParam()));
    EXPECT_FALSE(memory.expired());
    EXPECT_TRUE(lock.unlock());
    EXPECT_TRUE(memory.expired()) << "and no longer";
  }
  value_of(one_buffer(tensor_in(GetParam())).lock(Access::read)).keep();
}

TEST_P(BufferAccessTest, a_moved_lock_is_one_lock) {
  auto first = value_of(buffer_.lock(Access::write));
  BufferLock second = std::move(first);
  EXPECT_FAILS(first.unlock(), Errc::invalid_argument);
  EXPECT_EQ(second.writable_bytes().size(), 4096U);
  EXPECT_TRUE(second.unlock());
}

TEST_P(BufferAccessTest, sixty_four_threads_may_read) {
  std::vector<std::unique_ptr<OtherThread>> threads;
  std::vector<BufferLock> locks;
  for (int i = 0; i < 64; ++i) {
    threads.push_back(std::make_unique<OtherThread>());
    threads.back()->run([&] { locks.push_back(value_of(buffer_.lock(Access::read))); });
  }
  EXPECT_FAILS(buffer_.lock(Access::read), Errc::exhausted);
  threads[30]->run([&] { EXPECT_TRUE(locks[30].unlock()); });
  EXPECT_TRUE(buffer_.lock(Access::read));
}

TEST_P(BufferAccessTest, a_range_is_handed_over_while_the_lock_goes_on) {
  auto lock = value_of(buffer_.lock(Access::write));
  EXPECT_TRUE(lock.sync_range(0, 4096));
  EXPECT_TRUE(lock.sync_range(4095, 1));
  EXPECT_FAILS(lock.sync_range(0, 0), Errc::invalid_argument);
  EXPECT_FAILS(lock.sync_range(4095, 2), Errc::invalid_argument);
  EXPECT_FAILS(lock.sync_range(SIZE_MAX, 2), Errc::invalid_argument);
  EXPECT_TRUE(lock.unlock());
  EXPECT_FAILS(lock.sync_range(0, 1), Errc::invalid_argument);
}

TEST_P(BufferAccessTest, locking_takes_nothing_from_the_heap) {
  const auto allocations = test::allocations_of([&] {
    auto lock = buffer_.lock(Access::read_write);
    static_cast<void>(lock->unlock());
  });
  EXPECT_EQ(allocations, 0U);
}

TEST_P(BufferAccessTest, a_child_of_fork_has_none_of_the_locks) {
  auto mine = value_of(buffer_.lock(Access::write));
  EXPECT_TRUE(is_true_in_child([&] {
    const Status unlocked = mine.unlock();
    return !unlocked && unlocked.error().code == Errc::permission;
  }));
  EXPECT_TRUE(is_true_in_child([&] { return buffer_.lock(Access::write, at_once).has_value(); }));
  EXPECT_TRUE(mine.unlock()) << "the parent keeps its lock";
}

// A child that holds a lock is killed: the memory may be shared, the lock is not.
TEST_P(BufferAccessTest, a_killed_child_holds_nothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    value_of(buffer_.lock(Access::write)).keep();
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(buffer_.lock(Access::write, at_once));
}

// Operations.

TEST_P(BufferAccessTest, status_tells_of_the_latest_operation) {
  EXPECT_EQ(value_of(buffer_.status(at_once)).state, OperationState::none);
  auto operation = value_of(buffer_.submit());
  EXPECT_EQ(value_of(buffer_.status(at_once)).state, OperationState::pending);
  EXPECT_FAILS(buffer_.status(milliseconds(5)), Errc::timeout);
  operation.finish();
  const auto done = value_of(buffer_.status(milliseconds(-1)));
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_GE(done.duration.count(), 5000);
  value_of(buffer_.submit()).fail(-7);
  EXPECT_EQ(value_of(buffer_.status(at_once)).state, OperationState::failed);
  EXPECT_EQ(value_of(buffer_.status(at_once)).code, -7);
}

TEST_P(BufferAccessTest, a_forgotten_operation_has_failed) {
  { const auto operation = value_of(buffer_.submit()); }
  EXPECT_EQ(value_of(buffer_.status(at_once)).state, OperationState::failed);
  EXPECT_EQ(value_of(buffer_.status(at_once)).code, ECANCELED);
}

TEST_P(BufferAccessTest, a_lock_waits_for_the_operation) {
  auto operation = value_of(buffer_.submit());
  EXPECT_FAILS(buffer_.lock(Access::read, at_once), Errc::timeout);
  EXPECT_FAILS(buffer_.lock(Access::read, milliseconds(10)), "engine");
  std::thread engine([&] {
    std::this_thread::sleep_for(milliseconds(20));
    operation.finish();
  });
  EXPECT_TRUE(buffer_.lock(Access::read));
  EXPECT_EQ(value_of(buffer_.status(at_once)).state, OperationState::done);
  engine.join();
}

TEST_P(BufferAccessTest, an_operation_does_not_begin_beside_another_or_a_lock) {
  {
    const auto operation = value_of(buffer_.submit());
    EXPECT_FAILS(buffer_.submit(), Errc::busy);
  }
  const auto lock = value_of(buffer_.lock(Access::read));
  EXPECT_FAILS(buffer_.submit(), Errc::busy);
}

TEST_P(BufferAccessTest, a_fence_ends_the_operation) {
  const Fd fence(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(buffer_.submit(value_of(fence.duplicate())));
  EXPECT_EQ(value_of(buffer_.status(at_once)).state, OperationState::pending);
  EXPECT_FAILS(buffer_.lock(Access::read, milliseconds(10)), Errc::timeout);
  EXPECT_FAILS(buffer_.status(milliseconds(5)), Errc::timeout);
  std::thread engine([&] {
    std::this_thread::sleep_for(milliseconds(20));
    EXPECT_EQ(::eventfd_write(fence.get(), 1), 0);
  });
  EXPECT_TRUE(buffer_.lock(Access::read));
  engine.join();
  const auto done = value_of(buffer_.status(at_once));
  EXPECT_EQ(done.state, OperationState::done);
  EXPECT_GT(done.duration.count(), 0);
  EXPECT_FAILS(buffer_.submit(Fd()), Errc::invalid_argument);
}

// A party's name is in the errors of its buffer.
TEST_P(BufferAccessTest, errors_of_wrong_states_name_the_party) {
  auto buffer =
      value_of(allocate_negotiated(agreed(tensor_in(GetParam())), {.party = "app"})).at(0);
  const auto names_it = [](const Error& error) {
    return error.message().find("party \"app\"") != std::string::npos;
  };
  EXPECT_TRUE(names_it(error_of(buffer.unlock())));
  auto mine = value_of(buffer.lock(Access::read));
  EXPECT_TRUE(names_it(error_of(buffer.lock(Access::read))));
  EXPECT_TRUE(names_it(error_of(buffer.submit())));
  other_.run([&] {
    EXPECT_TRUE(names_it(error_of(mine.unlock())));
    EXPECT_TRUE(names_it(error_of(buffer.unlock())));
    EXPECT_TRUE(names_it(error_of(buffer.lock(Access::write, at_once))));
  });
  EXPECT_TRUE(mine.unlock());
  EXPECT_FALSE(names_it(error_of(buffer_.unlock()))) << "it is for no single one";
}

TEST_P(BufferAccessTest, a_timeout_is_not_over_early) {
  const auto mine = value_of(buffer_.lock(Access::write));
  other_.run([&] {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(error_of(buffer_.lock(Access::read, milliseconds(5))).code, Errc::timeout);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, milliseconds(5));
    EXPECT_LE(took, milliseconds(2000));
  });
}

// The word of a lock that was alone goes into the table with the second reader, and comes back.
TEST_P(BufferAccessTest, a_lock_stays_what_it_was_when_others_come) {
  for (int round = 0; round < 3; ++round) {
    auto mine = value_of(buffer_.lock(Access::read));
    std::optional<BufferLock> theirs;
    other_.run([&] { theirs = value_of(buffer_.lock(Access::read, at_once)); });
    EXPECT_FAILS(buffer_.lock(Access::read), Errc::busy);
    EXPECT_TRUE(mine.unlock());
    EXPECT_FAILS(buffer_.lock(Access::write, at_once), Errc::timeout);
    EXPECT_FAILS(buffer_.submit(), Errc::busy);
    other_.run([&] { EXPECT_TRUE(theirs->unlock()); });
    EXPECT_TRUE(value_of(buffer_.lock(Access::write, at_once)).unlock());
  }
}

TEST_P(BufferAccessTest, a_lock_that_was_ended_behind_its_back_ends_no_other) {
  auto first = value_of(buffer_.lock(Access::write));
  EXPECT_TRUE(buffer_.unlock());
  auto second = value_of(buffer_.lock(Access::write));
  EXPECT_FAILS(first.unlock(), Errc::invalid_argument);
  other_.run([&] { EXPECT_FALSE(buffer_.lock(Access::read, at_once)); });
  EXPECT_TRUE(second.unlock());
}

// What a process writes before its fence signals is there when the lock is.
TEST(BufferAccess, a_lock_shows_what_was_written_before_the_fence) {
  auto buffer = one_buffer(tensor_in("memfd"));
  std::byte* const shared = value_of(buffer.lock(Access::write)).writable_bytes().data();
  const Fd fence(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  ASSERT_TRUE(buffer.submit(value_of(fence.duplicate())));
  EXPECT_FAILS(buffer.lock(Access::read, milliseconds(10)), Errc::timeout);
  const pid_t child = ::fork();
  if (child == 0) {
    ::usleep(20000);
    shared[9] = std::byte{77};
    ::_exit(::eventfd_write(fence.get(), 1));
  }
  EXPECT_EQ(value_of(buffer.lock(Access::read)).bytes()[9], std::byte{77});
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

// Many threads: the count that they keep together is right only if the locks hold.
TEST_P(BufferAccessTest, threads_take_turns) {
  constexpr int rounds = 500;
  const auto count_up = [&] {
    for (int i = 0; i < rounds; ++i) {
      const auto lock = value_of(buffer_.lock(Access::read_write));
      auto& first = lock.writable_bytes()[0];
      auto& second = lock.writable_bytes()[1];
      const unsigned sum = static_cast<unsigned>(first) + static_cast<unsigned>(second) * 256 + 1;
      first = static_cast<std::byte>(sum & 255U);
      second = static_cast<std::byte>(sum >> 8U);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back(count_up);
  for (std::thread& each : threads)
    each.join();
  const auto lock = value_of(buffer_.lock(Access::read));
  EXPECT_EQ(static_cast<int>(lock.bytes()[0]) + static_cast<int>(lock.bytes()[1]) * 256,
            4 * rounds);
}

}  // namespace
}  // namespace halyard
