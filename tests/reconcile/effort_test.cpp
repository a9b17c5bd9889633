// SPDX-License-Identifier: Apache-2.0
// What reconciling takes of the heap, and that it keeps none of it.
#include <malloc.h>

#include <algorithm>

#include "halyard/reconcile.h"
#include "reconcile/negotiate.h"
#include "support/allocations.h"

namespace halyard {
namespace {

void expect(const Status& status) {
  EXPECT_TRUE(status.has_value());
}

/// Eight parties of some forty values and 16 layouts each.
std::vector<AttributeList> eight_parties() {
  std::vector<AttributeList> lists;
  for (int party = 0; party < 8; ++party) {
    AttributeList list("party" + std::to_string(party));
    for (const KeyInfo& info : key_infos())
      if (info.type == ValueType::number && info.count == 1 && info.key != Key::row_exact &&
          info.key != Key::raw_size && info.name[0] != 'a' && info.name[0] != 'p')
        expect(list.set(info.key, info.rule == MergeRule::min ? 60 : 8));
    EXPECT_TRUE(list.set_shape({1, 1, 1, 1}).has_value());
    EXPECT_TRUE(list.set_dtype(DType::i8).has_value());
    for (std::size_t axis = 0; axis < 8; ++axis)
      EXPECT_TRUE(list.set(Key::max_axis, {8192, 0}, axis, {}).has_value());
    for (std::uint32_t x = 1; x <= 16; ++x)
      EXPECT_TRUE(list.accept(LayoutTag::tensor(AxisOrder::nc_hwx, x), x % 3).has_value());
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
        expect(fits.set(each.key, each.value, each.index, {}));
    for (const Alternative& each : list.alternatives())
      expect(fits.accept(each.tag, each.cost));
    list = fits;
  }
  return lists;
}

TEST(Effort, of_eight_parties_is_small) {
  const auto lists = eight_that_agree();
  const auto first = reconcile(lists);
  ASSERT_TRUE(first) << first.error().message();
  const std::uint64_t before = test::allocated_bytes();
  const auto second = reconcile(lists);
  const std::uint64_t bytes = test::allocated_bytes() - before;
  ASSERT_TRUE(second);
  EXPECT_LE(bytes, 64U * 1024);
  EXPECT_GT(bytes, 0U);
}

/// Bytes of the heap that `rounds` of `work` leave in use.
template <class Work>
std::size_t left_behind(int rounds, const Work& work) {
  const auto in_use = [] { return static_cast<std::size_t>(::mallinfo2().uordblks); };
  for (int i = 0; i < 20; ++i)
    work();
  const std::size_t before = in_use();
  for (int i = 0; i < rounds; ++i)
    work();
  return in_use() - std::min(before, in_use());
}

// The allocator keeps blocks for the thread; a block of each round would be 16 bytes and more.
TEST(Effort, thousand_results_leave_nothing_behind) {
  const auto lists = eight_that_agree();
  EXPECT_LT(left_behind(1000, [&] { static_cast<void>(reconcile(lists)); }), 16'000U);
}

TEST(Effort, conflicts_leave_nothing_behind) {
  const auto all = eight_parties();
  const std::vector<AttributeList> two(all.begin(), all.begin() + 2);
  EXPECT_LT(left_behind(1000,
                        [&] {
                          Conflict conflict;
                          EXPECT_FALSE(reconcile(two, {}, &conflict));
                        }),
            16'000U);
}

}  // namespace
}  // namespace halyard
