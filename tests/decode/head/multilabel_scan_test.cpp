// SPDX-License-Identifier: Apache-2.0
// The pair scan on vectors against its plain sibling: equal for every type, layout and size.
#include "decode/head/multilabel_scan.h"

#include <gtest/gtest.h>

#include "decode/head/scan_reference.h"
#include "decode/nms/selector.h"
#include "scan_values.h"

namespace halyard::decode {
namespace {

using test::grids_of;
using test::random_value;
using test::random_values;
using test::thresholds;

template <class T>
class PairScan : public ::testing::Test {};
TYPED_TEST_SUITE(PairScan, test::StoredTypes);

// How many pairs there were.
template <class T>
std::size_t expect_equal(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each) {
  std::vector<Hit> fast{{7, 7, 7}}, plain = fast, work;
  scan_multilabel<T>(grid, minimum, each, work, fast);
  scan_multilabel_reference<T>(grid, minimum, each, plain);
  EXPECT_EQ(fast, plain) << grid.anchors << " anchors, " << grid.classes << " classes";
  return plain.size() - 1;
}

template <class T>
std::size_t check(std::size_t anchors, std::size_t classes, std::mt19937& random) {
  const auto values = random_values<T>(anchors * classes, random);
  const auto [columns, rows, halved] = grids_of(values, anchors, classes);
  std::size_t pairs = 0;
  for (const T minimum : thresholds<T>()) {
    pairs += expect_equal<T>(columns, minimum, {});
    pairs += expect_equal<T>(rows, minimum, {});
    pairs += expect_equal<T>(halved, minimum, {});
  }
  if constexpr (std::is_integral_v<T>) {
    std::vector<std::int32_t> each(classes);
    for (auto& minimum : each)
      minimum = random_value<T>(random);
    pairs += expect_equal<T>(columns, T{}, each);
    pairs += expect_equal<T>(rows, T{}, each);
  }
  return pairs;
}

TYPED_TEST(PairScan, equals_the_plain_loops_for_small_sizes_in_both_orders) {
  test::for_each_target([] {
    std::mt19937 random(1);
    std::size_t pairs = 0;
    for (std::size_t anchors = 1; anchors <= 65; anchors += anchors < 9 ? 1 : 7) {
      for (const std::size_t classes : {1, 3, 8, 9, 17, 65})
        pairs += check<TypeParam>(anchors, classes, random);
    }
    EXPECT_GT(pairs, 0U);
  });
}

TYPED_TEST(PairScan, equals_the_plain_loops_across_blocks) {
  test::for_each_target([] {
    std::mt19937 random(2);
    for (const std::size_t anchors : {1024, 1039, 2049, 4097, 4161})
      EXPECT_GT(check<TypeParam>(anchors, 5, random), 0U);
  });
}

}  // namespace
}  // namespace halyard::decode
