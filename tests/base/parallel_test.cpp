// SPDX-License-Identifier: Apache-2.0
// Strips over threads, and a child of fork(), which has none of its parent's threads.
#include "base/system/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "halyard/threads.h"
#include "support/in_child.h"
#include "support/thread_gate.h"

namespace halyard {
namespace {

// What one run did: the calls for each item, the strips, and whether each slot had one caller at a
// time.
struct Strips {
  std::vector<std::atomic<int>> items;
  std::vector<std::atomic<int>> callers;
  std::atomic<int> count{0};
  std::atomic<bool> is_shared{false};

  Strips(Parallel& parallel, std::int32_t of, std::int32_t minimum)
      : items(static_cast<std::size_t>(of)), callers(parallel.width()) {
    parallel.for_strips(of, minimum, [&](std::int32_t begin, std::int32_t end, std::size_t slot) {
      ++count;
      if (++callers.at(slot) > 1) is_shared = true;
      for (std::int32_t i = begin; i < end; ++i)
        ++items.at(static_cast<std::size_t>(i));
      --callers.at(slot);
    });
  }
  bool is_each_once() const {
    return std::all_of(items.begin(), items.end(), [](const auto& calls) { return calls == 1; });
  }
};

TEST(Parallel, covers_every_item_once_in_slots_of_one_thread_each) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    Parallel parallel(threads);
    for (const std::int32_t count : {1, 7, 8, 64, 1001}) {
      const Strips run(parallel, count, 4);
      EXPECT_TRUE(run.is_each_once()) << threads << " " << count;
      EXPECT_FALSE(run.is_shared) << threads << " " << count;
      EXPECT_TRUE(run.count == 1 || (threads > 1 && count >= 8)) << threads << " " << count;
    }
  }
}

TEST(Parallel, does_two_pieces_of_work_side_by_side) {
  Parallel parallel(2);
  const Strips run(parallel, 2, 1);
  EXPECT_TRUE(run.is_each_once());
  EXPECT_EQ(run.count, 2);
}

TEST(Parallel, is_one_strip_where_threads_are_refused) {
  const test::ThreadLimit none(0);
  Parallel parallel(2);
  const Strips run(parallel, 2, 1);
  EXPECT_TRUE(run.is_each_once());
}

TEST(Parallel, does_each_item_once_where_threads_are_refused_after_they_were_asked_for) {
  ASSERT_EQ(startable_threads(1), 1U);
  const test::ThreadLimit none(0);
  Parallel parallel(2);
  const Strips run(parallel, 2, 1);
  EXPECT_TRUE(run.is_each_once());
}

TEST(Parallel, of_a_child_whose_threads_are_lost_is_one_strip) {
  Parallel parallel(2);
  const Strips before(parallel, 64, 1);
  ASSERT_TRUE(before.is_each_once());
  const auto is_one_strip = [](Parallel& used) {
    const Strips run(used, 64, 1);
    return run.is_each_once() && run.count == 1;
  };
  EXPECT_TRUE(test::is_true_in_child([&] { return is_one_strip(parallel); }));
  EXPECT_TRUE(test::is_true_in_child([&] {
    Parallel fresh(2);
    return is_one_strip(fresh);
  }));
  EXPECT_TRUE(Strips(parallel, 64, 1).is_each_once()) << "the parent works on";
}

}  // namespace
}  // namespace halyard
