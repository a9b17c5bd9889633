// SPDX-License-Identifier: Apache-2.0
// Two pieces of work side by side, also where the system starts no thread for them.
#include "compat/beside.h"

#include <gtest/gtest.h>

#include <atomic>

#include "halyard/threads.h"
#include "support/thread_gate.h"

namespace halyard::compat {
namespace {

// How often each piece was done.
struct Counts {
  std::atomic<int> one{0};
  std::atomic<int> other{0};
  void run() {
    const auto do_one = [this] { ++one; };
    const auto do_other = [this] { ++other; };
    run_beside(Work(do_one), Work(do_other));
  }
};

TEST(Beside, each_piece_is_done_once) {
  Counts counts;
  counts.run();
  EXPECT_EQ(counts.one, 1);
  EXPECT_EQ(counts.other, 1);
}

TEST(Beside, each_piece_is_done_once_where_threads_are_refused) {
  const test::ThreadLimit none(0);
  Counts counts;
  counts.run();
  EXPECT_EQ(counts.one, 1);
  EXPECT_EQ(counts.other, 1);
}

TEST(Beside, each_piece_is_done_once_where_threads_are_refused_after_they_were_asked_for) {
  ASSERT_EQ(startable_threads(1), 1U);
  const test::ThreadLimit none(0);
  Counts counts;
  counts.run();
  EXPECT_EQ(counts.one, 1);
  EXPECT_EQ(counts.other, 1);
}

}  // namespace
}  // namespace halyard::compat
