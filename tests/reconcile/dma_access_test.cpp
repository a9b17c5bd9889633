// SPDX-License-Identifier: Apache-2.0
// What the kernel is told of a DMA-BUF by locks, and what becomes of its failures.
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <thread>

#include "conformance/fake_dma.h"
#include "reconcile/agreed.h"
#include "reconcile/other_thread.h"
#include "support/special_values.h"
#include "tensor/memory/buffer_kinds.h"

namespace halyard {
namespace {

using conformance::FakeDmaBuf;
using namespace test;  // NOLINT: its helpers are what tests are written in

class DmaAccessTest : public ::testing::Test {
 protected:
  FakeDmaBuf fake_{4096};
  NegotiatedBuffer buffer_ = value_of(NegotiatedBuffer::adopt(
      agreed(tensor_in("dmabuf.system")), value_of(adopt_dma_buffer(fake_.fd(), 4096, true))));
};

TEST_F(DmaAccessTest, each_lock_starts_and_ends) {
  EXPECT_TRUE(value_of(buffer_.lock(Access::read)).unlock());
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
  EXPECT_TRUE(value_of(buffer_.lock(Access::write)).unlock());
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
  EXPECT_TRUE(value_of(buffer_.lock(Access::read_write)).unlock());
  EXPECT_EQ(fake_.take_calls(), "START|RW END|RW");
}

TEST_F(DmaAccessTest, interrupted_calls_are_repeated) {
  fake_.fail_next({EINTR, EAGAIN, 0, EINTR});
  EXPECT_TRUE(value_of(buffer_.lock(Access::read)).unlock());
  EXPECT_EQ(fake_.take_calls(), "START|READ END|READ");
  EXPECT_EQ(fake_.failures_left(), 0U);
}

TEST_F(DmaAccessTest, a_failed_start_locks_nothing) {
  fake_.fail_next({EIO});
  EXPECT_EQ(error_of(buffer_.lock(Access::write)).os_errno, EIO);
  EXPECT_TRUE(buffer_.lock(Access::write, at_once));
}

TEST_F(DmaAccessTest, each_failed_end_is_told_and_kept_in_the_status) {
  for (const int failure : {EIO, ENODEV, EIO}) {
    auto lock = value_of(buffer_.lock(Access::write));
    fake_.fail_next({failure});
    const Error error = error_of(lock.unlock());
    EXPECT_EQ(error.os_errno, failure);
    EXPECT_TRUE(value_of(buffer_.status(at_once)).is_poisoned);
  }
  EXPECT_TRUE(value_of(buffer_.lock(Access::write)).unlock());
  EXPECT_TRUE(value_of(buffer_.status(at_once)).is_poisoned);
}

TEST_F(DmaAccessTest, a_range_reaches_the_device_while_the_lock_goes_on) {
  auto lock = value_of(buffer_.lock(Access::write));
  lock.writable_bytes()[5] = std::byte{3};
  EXPECT_EQ(fake_.device()[5], std::byte{0});
  EXPECT_TRUE(lock.sync_range(5, 1));
  EXPECT_EQ(fake_.device()[5], std::byte{3});
  lock.writable_bytes()[6] = std::byte{4};
  EXPECT_TRUE(lock.unlock());
  EXPECT_EQ(fake_.device()[6], std::byte{4});
}

TEST_F(DmaAccessTest, a_range_that_does_not_reach_the_device_is_told_each_time) {
  auto lock = value_of(buffer_.lock(Access::write));
  for (int round = 0; round < 2; ++round) {
    fake_.fail_next({EIO});
    EXPECT_EQ(error_of(lock.sync_range(0, 1)).os_errno, EIO);
  }
  EXPECT_TRUE(lock.sync_range(0, 1));
  EXPECT_TRUE(lock.unlock());
}

// Readers begin each, since a reader that stays must not make later ones see old bytes; the last
// one ends. A writer waits for it.
TEST_F(DmaAccessTest, readers_that_overlap_end_once_and_a_writer_waits_for_them) {
  OtherThread other;
  std::optional<BufferLock> theirs;
  auto mine = value_of(buffer_.lock(Access::read));
  other.run([&] { theirs = value_of(buffer_.lock(Access::read, at_once)); });
  EXPECT_EQ(fake_.take_calls(), "START|READ START|READ");
  EXPECT_TRUE(mine.unlock());
  EXPECT_EQ(fake_.take_calls(), "") << "the other still reads";
  EXPECT_FAILS(buffer_.lock(Access::write, at_once), Errc::timeout);
  std::thread writer([&] { EXPECT_TRUE(value_of(buffer_.lock(Access::write)).unlock()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(fake_.take_calls(), "") << "the writer waits";
  other.run([&] { EXPECT_TRUE(theirs->unlock()); });
  writer.join();
  EXPECT_EQ(fake_.take_calls(), "END|READ START|RW END|RW");
}

}  // namespace
}  // namespace halyard
