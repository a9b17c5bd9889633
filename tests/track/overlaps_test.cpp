// SPDX-License-Identifier: Apache-2.0
// The sweep for overlapping pairs against all pairs, and pairs of exactly the least IoU.
#include "track/overlaps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace halyard::track {
namespace {

TEST(Overlaps, of_exactly_the_least_iou_are_pairs) {
  struct Case {
    Box other;
    double iou;
  };
  const Box unit{0, 0, 1, 1};
  const Case cases[] = {{{0.25F, 0.25F, 0.75F, 0.75F}, 0.25}, {{0, 0, 2, 1}, 0.5}, {unit, 1}};
  OverlapFinder finder;
  for (const Case& c : cases) {
    const std::vector<Box> rows{unit};
    const std::vector<Box> columns{c.other};
    const auto found = finder.find(rows, columns, c.iou);
    ASSERT_EQ(found.size(), 1U) << c.iou;
    EXPECT_EQ(found[0].iou, c.iou);
    EXPECT_TRUE(finder.find(rows, columns, std::nextafter(c.iou, 2.0)).empty()) << c.iou;
  }
}

TEST(Overlaps, of_no_area_are_no_pairs_even_where_the_least_iou_is_zero) {
  const std::vector<Box> rows{{0, 0, 1, 1}};
  const std::vector<Box> columns{{1, 0, 2, 1}, {0, 1, 1, 2}, {5, 5, 6, 6}};
  EXPECT_TRUE(OverlapFinder().find(rows, columns, 0).empty());
}

TEST(Overlaps, are_those_of_all_pairs_by_row_then_column) {
  std::mt19937 random(5);
  // Whole numbers, so that sides coincide.
  const auto boxes = [&](std::size_t count) {
    std::vector<Box> out;
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(random() % 40);
      const auto y = static_cast<float>(random() % 40);
      out.push_back({x, y, x + 1 + static_cast<float>(random() % 12),
                     y + 1 + static_cast<float>(random() % 12)});
    }
    return out;
  };
  OverlapFinder finder;  // one for all: nothing of a call may show in the next
  for (const std::size_t count : {0U, 1U, 7U, 60U}) {
    for (const double minimum : {0.0, 0.25, 0.5}) {
      const auto rows = boxes(count);
      const auto columns = boxes(count + 3);
      const auto found = finder.find(rows, columns, minimum);
      std::size_t next = 0;
      for (std::uint32_t row = 0; row < rows.size(); ++row) {
        for (std::uint32_t column = 0; column < columns.size(); ++column) {
          const double iou = overlap(rows[row], columns[column]);
          if (!(iou > 0 && iou >= minimum)) continue;
          ASSERT_LT(next, found.size()) << row << ", " << column;
          EXPECT_EQ(found[next].row, row);
          EXPECT_EQ(found[next].column, column);
          EXPECT_EQ(found[next].iou, iou);
          ++next;
        }
      }
      EXPECT_EQ(next, found.size());
    }
  }
}

}  // namespace
}  // namespace halyard::track
