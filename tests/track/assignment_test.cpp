// SPDX-License-Identifier: Apache-2.0
// Assignment against every possible choice of pairs.
#include "halyard/assignment.h"
#include "support/result.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace halyard {
namespace {

using Pair = AssignmentPair;
constexpr std::int32_t unassigned = Assignment::unassigned;

std::vector<std::int32_t> assign(const std::vector<Pair>& pairs, std::size_t rows,
                                 std::size_t columns, std::optional<double> alone = {}) {
  static Assignment assignment;  // one for all: nothing of a call may show in the next
  const auto chosen = alone ? assignment.cheapest(pairs, rows, columns, *alone)
                            : assignment.max_pairs(pairs, rows, columns);
  EXPECT_TRUE(chosen) << chosen.error().message();
  return {chosen->begin(), chosen->end()};
}

struct Quality {
  std::size_t pairs = 0;
  double cost = 0;
};

bool has_more_pairs(const Quality& a, const Quality& b) {
  return a.pairs != b.pairs ? a.pairs > b.pairs : a.cost < b.cost;
}

// The best of all choices, row by row.
template <class IsBetter>
Quality best_of_all(const std::vector<Pair>& pairs, std::size_t row, std::size_t rows,
                    std::vector<bool>& taken, IsBetter is_better) {
  if (row == rows) return {};
  Quality best = best_of_all(pairs, row + 1, rows, taken, is_better);  // this row stays alone
  for (const Pair& pair : pairs) {
    if (pair.row != row || taken[pair.column]) continue;
    taken[pair.column] = true;
    Quality with = best_of_all(pairs, row + 1, rows, taken, is_better);
    taken[pair.column] = false;
    with.pairs += 1;
    with.cost += pair.cost;
    if (is_better(with, best)) best = with;
  }
  return best;
}

Quality quality_of(const std::vector<Pair>& pairs, const std::vector<std::int32_t>& chosen) {
  Quality out;
  std::vector<std::int32_t> seen;
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    if (chosen[row] == unassigned) continue;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), chosen[row]), 0) << "a column taken twice";
    seen.push_back(chosen[row]);
    const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) {
      return p.row == row && static_cast<std::int32_t>(p.column) == chosen[row];
    });
    if (pair == pairs.end()) {
      ADD_FAILURE() << "a forbidden pair was chosen";
      continue;
    }
    ++out.pairs;
    out.cost += pair->cost;
  }
  return out;
}

TEST(Assignment, is_the_best_of_all_choices_on_small_random_problems) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t rows = 1 + random() % 6;
    const std::size_t columns = 1 + random() % 6;
    const double density = unit(random);
    const bool has_ties = round % 3 == 0;
    const double shift = round % 5 == 0 ? -10 : 0;  // negative costs too
    std::vector<Pair> pairs;
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < columns; ++c) {
        if (unit(random) > density) continue;
        const double cost = has_ties ? static_cast<double>(random() % 3) : 3 * unit(random);
        pairs.push_back({r, c, cost + shift});
      }
    }
    const auto chosen = assign(pairs, rows, columns);
    ASSERT_EQ(chosen.size(), rows);
    std::vector<bool> taken(columns, false);
    const Quality expected = best_of_all(pairs, 0, rows, taken, has_more_pairs);
    const Quality got = quality_of(pairs, chosen);
    ASSERT_EQ(got.pairs, expected.pairs) << rows << " x " << columns;
    ASSERT_NEAR(got.cost, expected.cost, 1e-9);
    // Where staying alone has a price, a pair is worth what it saves.
    const double alone = 2.5 * unit(random) + shift;
    const auto value = [alone](const Quality& q) {
      return q.cost - alone * static_cast<double>(q.pairs);
    };
    const Quality cheap =
        best_of_all(pairs, 0, rows, taken,
                    [&](const Quality& a, const Quality& b) { return value(a) < value(b); });
    ASSERT_NEAR(value(quality_of(pairs, assign(pairs, rows, columns, alone))), value(cheap), 1e-9);
    std::shuffle(pairs.begin(), pairs.end(), random);
    ASSERT_EQ(assign(pairs, rows, columns), chosen) << "the order of pairs left a trace";
  }
}

TEST(Assignment, prefers_more_pairs_to_cheaper_ones) {
  // Row 0 would rather have column 0, but row 1 can have nothing else.
  const std::vector<Pair> pairs{{0, 0, 0.1}, {0, 1, 2.9}, {1, 0, 2.9}};
  EXPECT_EQ(assign(pairs, 2, 2), (std::vector<std::int32_t>{1, 0}));
}

TEST(Assignment, with_a_price_of_being_alone_prefers_cheaper_pairs_to_more) {
  const std::vector<Pair> pairs{{0, 0, 0.1}, {0, 1, 2.9}, {1, 0, 2.9}};
  EXPECT_EQ(assign(pairs, 2, 2, 1.0), (std::vector<std::int32_t>{0, unassigned}));
  EXPECT_EQ(assign(pairs, 2, 2, 10.0), (std::vector<std::int32_t>{1, 0}));
  // A pair that costs as much as being alone is never chosen, in small or large components.
  EXPECT_EQ(assign({{0, 0, 1.0}}, 1, 1, 1.0), (std::vector<std::int32_t>{unassigned}));
  EXPECT_EQ(assign({{0, 0, 1.0}, {0, 1, 1.0}}, 1, 2, 1.0), (std::vector<std::int32_t>{unassigned}));
}

TEST(Assignment, refuses_pairs_that_make_no_sense) {
  Assignment assignment;
  const auto refused = [&](const std::vector<Pair>& pairs, const char* text) {
    EXPECT_FAILS(assignment.max_pairs(pairs, 2, 3), Errc::invalid_argument, text);
  };
  refused({{2, 0, 1}}, "(2, 0) of 2 x 3");
  refused({{0, 3, 1}}, "(0, 3) of 2 x 3");
  refused({{0, 0, std::numeric_limits<double>::quiet_NaN()}}, "cost nan");
  refused({{0, 0, std::numeric_limits<double>::infinity()}}, "cost inf");
  refused({{1, 1, 1}, {0, 0, 1}, {1, 1, 2}}, "(1, 1)");
  EXPECT_FALSE(assignment.cheapest({}, 1, 1, std::numeric_limits<double>::infinity()));
  EXPECT_FALSE(assignment.max_pairs({}, std::size_t{1} << 40, 1));
}

TEST(Assignment, of_nothing_leaves_all_alone) {
  EXPECT_TRUE(assign({}, 0, 0).empty());
  EXPECT_EQ(assign({}, 2, 3), (std::vector<std::int32_t>{unassigned, unassigned}));
}

TEST(Assignment, solves_a_dense_problem_whose_answer_is_known) {
  // cost (r + 1) * (c + 1): the largest row takes the smallest column.
  constexpr std::uint32_t n = 60;
  std::vector<Pair> pairs;
  for (std::uint32_t r = 0; r < n; ++r) {
    for (std::uint32_t c = 0; c < n; ++c)
      pairs.push_back({r, c, static_cast<double>((r + 1) * (c + 1))});
  }
  const auto chosen = assign(pairs, n, n);
  for (std::uint32_t r = 0; r < n; ++r)
    EXPECT_EQ(chosen[r], static_cast<std::int32_t>(n - 1 - r));
}

}  // namespace
}  // namespace halyard
