// SPDX-License-Identifier: Apache-2.0
// What reconciling takes of the heap, and that it keeps none of it.
#include <malloc.h>

#include <algorithm>

#include "halyard/reconcile.h"
#include "reconcile/agreed.h"
#include "reconcile/negotiate.h"
#include "support/allocations.h"
#include "support/sanitized.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

/// Eight parties of some forty values and 16 layouts each.
std::vector<AttributeList> eight_parties() {
  std::vector<AttributeList> lists;
  for (int party = 0; party < 8; ++party) {
    AttributeList list("party" + std::to_string(party));
    for (const KeyInfo& info : key_infos())
      if (info.type == ValueType::number && info.count == 1 && info.key != Key::row_exact &&
          info.key != Key::raw_size && info.name[0] != 'a' && info.name[0] != 'p')
        must(list.set(info.key, info.rule == MergeRule::min ? 60 : 8));
    must(list.set_shape({1, 1, 1, 1}));
    must(list.set_dtype(DType::i8));
    for (std::size_t axis = 0; axis < 8; ++axis)
      must(list.set(Key::max_axis, {8192, 0}, axis, {}));
    for (std::uint32_t x = 1; x <= 16; ++x)
      must(list.accept(LayoutTag::tensor(AxisOrder::nc_hwx, x), x % 3));
    lists.push_back(list);
  }
  return lists;
}

/// The same without the limits that they cannot keep together.
std::vector<AttributeList> eight_that_agree() {
  auto lists = eight_parties();
  for (AttributeList& list : lists) {
    AttributeList fits(list.party());
    for (const Attribute& each : list.attributes())
      if (each.key != Key::size_max && each.key != Key::row_max && each.key != Key::count_max)
        must(fits.set(each.key, each.value, each.index, {}));
    for (const Alternative& each : list.alternatives())
      must(fits.accept(each.tag, each.cost));
    list = fits;
  }
  return lists;
}

TEST(Effort, of_eight_parties_is_small) {
  const auto lists = eight_that_agree();
  const auto first = value_of(reconcile(lists));
  const std::uint64_t before = test::allocated_bytes();
  const auto second = reconcile(lists);
  const std::uint64_t bytes = test::allocated_bytes() - before;
  ASSERT_TRUE(second);
  EXPECT_LE(bytes, 64U * 1024);
  EXPECT_GT(bytes, 0U);
}

constexpr int rounds_of_effort = 1000 / test::slowness;

/// Bytes of the heap that the rounds of `work` leave in use.
template <class Work>
std::size_t left_behind(const Work& work) {
  const auto in_use = [] { return static_cast<std::size_t>(::mallinfo2().uordblks); };
  for (int i = 0; i < 20; ++i)
    work();
  const std::size_t before = in_use();
  for (int i = 0; i < rounds_of_effort; ++i)
    work();
  return in_use() - std::min(before, in_use());
}

// The allocator keeps blocks for the thread; a block of each round would be 16 bytes and more.
TEST(Effort, thousand_results_leave_nothing_behind) {
  const auto lists = eight_that_agree();
  EXPECT_LT(left_behind([&] { static_cast<void>(reconcile(lists)); }), 16U * rounds_of_effort);
}

TEST(Effort, conflicts_leave_nothing_behind) {
  const auto all = eight_parties();
  const std::vector<AttributeList> two(all.begin(), all.begin() + 2);
  EXPECT_LT(left_behind([&] {
              Conflict conflict;
              EXPECT_FALSE(reconcile(two, {}, &conflict));
            }),
            16U * rounds_of_effort);
}

}  // namespace
}  // namespace halyard
