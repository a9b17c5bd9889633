// SPDX-License-Identifier: Apache-2.0
// The class scan on vectors against its plain sibling: bit-equal for every type, layout and size.
#include "decode/head/argmax_scan.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "decode/head/scan_reference.h"
#include "scan_values.h"

namespace halyard::decode {
namespace {

using test::grids_of;
using test::random_values;
using test::thresholds;

template <class T>
class ClassScan : public ::testing::Test {};
TYPED_TEST_SUITE(ClassScan, test::StoredTypes);

template <class T>
void expect_equal_scans(const ScoreGrid& grid) {
  for (const T minimum : thresholds<T>()) {
    std::vector<Hit> fast;
    std::vector<Hit> plain;
    scan_argmax<T>(grid, minimum, fast);
    scan_argmax_reference<T>(grid, minimum, plain);
    ASSERT_EQ(fast, plain) << grid.anchors << " anchors, " << grid.classes << " classes";
  }
}

template <class T>
void check_sizes(std::size_t anchors, std::size_t classes, std::mt19937& random) {
  const auto values = random_values<T>(anchors * classes, random);
  const auto grids = grids_of(values, anchors, classes);
  expect_equal_scans<T>(grids.columns);
  expect_equal_scans<T>(grids.rows);
}

TYPED_TEST(ClassScan, equals_the_plain_loops_for_all_small_sizes_in_both_orders) {
  test::for_each_target([] {
    std::mt19937 random(1);
    for (std::size_t anchors = 1; anchors <= 65; ++anchors) {
      for (const std::size_t classes : {1, 2, 3, 7, 8, 9, 16, 17, 33, 64, 65})
        check_sizes<TypeParam>(anchors, classes, random);
    }
  });
}

TYPED_TEST(ClassScan, equals_the_plain_loops_across_blocks_and_for_many_classes) {
  test::for_each_target([] {
    std::mt19937 random(2);
    for (const std::size_t anchors : {1023, 1024, 1025, 1039, 2049, 4096, 4100, 4161, 8400})
      check_sizes<TypeParam>(anchors, 5, random);
    check_sizes<TypeParam>(130, 255, random);
    check_sizes<TypeParam>(130, 256, random);
    check_sizes<TypeParam>(130, 257, random);
    check_sizes<TypeParam>(70, 1000, random);
  });
}

template <class T>
T stored(float value) {
  if constexpr (std::is_same_v<T, Half>) {
    return test::to_half(value);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return test::to_bfloat(value);
  } else {
    return static_cast<T>(value);
  }
}

// One class of each anchor is the best, and an equal one comes after it: its label is known.
template <class T>
void expect_labels(std::size_t classes) {
  constexpr std::size_t anchors = 130;
  const auto best = [&](std::size_t anchor) { return anchor * 389 % classes; };
  std::vector<T> columns(anchors * classes, stored<T>(1));
  std::vector<T> rows(columns);
  const auto set = [&](std::size_t anchor, std::size_t label) {
    columns[label * anchors + anchor] = stored<T>(2);
    rows[anchor * classes + label] = stored<T>(2);
  };
  for (std::size_t a = 0; a < anchors; ++a) {
    set(a, best(a));
    set(a, classes - 1);
  }
  std::vector<Hit> by_columns;
  std::vector<Hit> by_rows;
  scan_argmax<T>(test::grids_of(columns, anchors, classes).columns, stored<T>(2), by_columns);
  scan_argmax<T>(test::grids_of(rows, anchors, classes).rows, stored<T>(2), by_rows);
  for (const auto& hits : {by_columns, by_rows}) {
    ASSERT_EQ(hits.size(), anchors) << classes;
    for (std::size_t a = 0; a < anchors; ++a)
      ASSERT_EQ(hits[a].label, static_cast<std::int32_t>(best(a))) << classes << ", anchor " << a;
  }
}

TYPED_TEST(ClassScan, finds_the_best_class_in_every_label_chunk) {
  test::for_each_target([] {
    for (const std::size_t classes : {255, 256, 257, 511, 512, 513, 1000})
      expect_labels<TypeParam>(classes);
  });
}

TYPED_TEST(ClassScan, reads_through_any_strides) {
  std::mt19937 random(3);
  constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(TypeParam));
  const auto values = random_values<TypeParam>(200 * 90, random);
  const auto* data = reinterpret_cast<const std::byte*>(values.data());
  expect_equal_scans<TypeParam>({data, 80, 70, size, 200 * size});      // padded rows
  expect_equal_scans<TypeParam>({data, 80, 70, 200 * size, size});      // padded anchors
  expect_equal_scans<TypeParam>({data, 40, 70, 2 * size, 200 * size});  // every second
  expect_equal_scans<TypeParam>({data + 69 * 200 * size, 80, 70, size, -200 * size});
  if (size > 1) expect_equal_scans<TypeParam>({data + 1, 80, 70, size, 200 * size});  // misaligned
  if (size > 1) expect_equal_scans<TypeParam>({data, 80, 70, size, 200 * size + 1});
}

TEST(ClassScan, first_of_equal_classes_wins_and_nan_never_passes) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const std::size_t anchors = 100;
  std::vector<float> values(3 * anchors, 0.5F);
  values[10] = nan;  // class 0 of anchor 10
  values[20] = values[anchors + 20] = values[2 * anchors + 20] = nan;
  values[2 * anchors + 30] = 0.6F;
  std::vector<Hit> hits;
  scan_argmax<float>({reinterpret_cast<const std::byte*>(values.data()), anchors, 3, 4, 400}, 0.5F,
                     hits);
  ASSERT_EQ(hits.size(), anchors - 1);
  EXPECT_EQ(hits[0], (Hit{0, 0, 0.5F}));
  EXPECT_EQ(hits[10], (Hit{10, 1, 0.5F}));
  EXPECT_EQ(hits[20].anchor, 21U);
  EXPECT_EQ(hits[29], (Hit{30, 2, 0.6F}));
}

}  // namespace
}  // namespace halyard::decode
