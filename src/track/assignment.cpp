// SPDX-License-Identifier: Apache-2.0
// Shortest augmenting paths (Jonker and Volgenant, 1987; rectangular form after Crouse, 2016), run
// on each connected component of the allowed pairs: in tracking nearly all have one or two rows.
#include "track/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace halyard::track {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

// Disjoint sets over rows, then columns.
class Components {
 public:
  explicit Components(std::size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  std::uint32_t find(std::uint32_t node) noexcept {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  // The smaller index stays the root, so that the order of pairs leaves no trace.
  void join(std::uint32_t a, std::uint32_t b) noexcept {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

// One component as a dense matrix of n rows and m + n columns: column m + r is row r's own way of
// staying unassigned. It costs more than any choice of pairs could save, so pairs come first.
class Dense {
 public:
  // `pairs` sorted by row, then column.
  explicit Dense(std::span<const Pair> pairs) {
    for (const Pair& pair : pairs) {
      if (rows_.empty() || rows_.back() != pair.row) rows_.push_back(pair.row);
      columns_.push_back(pair.column);
    }
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    width_ = columns_.size() + rows_.size();
    cost_.assign(rows_.size() * width_, infinity);
    double largest = 0;
    std::size_t row = 0;
    for (const Pair& pair : pairs) {
      if (rows_[row] != pair.row) ++row;
      const auto column = std::lower_bound(columns_.begin(), columns_.end(), pair.column);
      cost_[row * width_ + static_cast<std::size_t>(column - columns_.begin())] = pair.cost;
      largest = std::max(largest, std::abs(pair.cost));
    }
    const double none = (largest + 1) * 2 * static_cast<double>(rows_.size() + 1);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      cost_[r * width_ + columns_.size() + r] = none;
  }

  void solve(std::vector<std::int32_t>& column_of_row) {
    row_potential_.assign(rows_.size(), 0);
    column_potential_.assign(width_, 0);
    row_of_.assign(width_, nobody);
    column_of_.assign(rows_.size(), nobody);
    for (std::uint32_t r = 0; r < rows_.size(); ++r)
      augment(r);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (column_of_[r] < columns_.size())
        column_of_row[rows_[r]] = static_cast<std::int32_t>(columns_[column_of_[r]]);
    }
  }

 private:
  // Dijkstra over reduced costs from `start` to the nearest free column, then flips the path.
  void augment(std::uint32_t start) {
    distance_.assign(width_, infinity);
    previous_.assign(width_, nobody);
    done_.assign(width_, false);
    std::uint32_t row = start;
    double base = 0;
    std::uint32_t column = nobody;
    do {
      column = nearest(row, base);
      base = distance_[column];
      done_[column] = true;
      row = row_of_[column];
    } while (row != nobody);
    row_potential_[start] += base;
    for (std::size_t c = 0; c < width_; ++c) {
      if (!done_[c] || c == column) continue;
      row_potential_[row_of_[c]] += base - distance_[c];
      column_potential_[c] -= base - distance_[c];
    }
    for (std::uint32_t c = column; c != nobody;) {
      const std::uint32_t r = previous_[c];
      row_of_[c] = r;
      std::swap(column_of_[r], c);
    }
  }

  // Relaxes from a row at distance `base`; gives the open column that is nearest now.
  std::uint32_t nearest(std::uint32_t row, double base) {
    std::uint32_t best = nobody;
    const double* cost = cost_.data() + row * width_;
    for (std::uint32_t c = 0; c < width_; ++c) {
      if (done_[c]) continue;
      const double through = base + cost[c] - row_potential_[row] - column_potential_[c];
      if (through < distance_[c]) {
        distance_[c] = through;
        previous_[c] = row;
      }
      if (best == nobody || distance_[c] < distance_[best]) best = c;
    }
    return best;
  }

  std::vector<std::uint32_t> rows_, columns_;  // outside indices, ascending
  std::size_t width_ = 0;
  std::vector<double> cost_, row_potential_, column_potential_, distance_;
  std::vector<std::uint32_t> row_of_, column_of_, previous_;
  std::vector<char> done_;
};

}  // namespace

std::vector<std::int32_t> assign(std::span<const Pair> pairs, std::size_t rows,
                                 std::size_t columns) {
  std::vector<std::int32_t> column_of_row(rows, unassigned);
  Components components(rows + columns);
  for (const Pair& pair : pairs)
    components.join(pair.row, static_cast<std::uint32_t>(rows) + pair.column);

  struct Keyed {
    std::uint32_t component;
    Pair pair;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(pairs.size());
  for (const Pair& pair : pairs)
    keyed.push_back({components.find(pair.row), pair});
  std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
    if (a.component != b.component) return a.component < b.component;
    return a.pair.row != b.pair.row ? a.pair.row < b.pair.row : a.pair.column < b.pair.column;
  });
  std::vector<Pair> group;
  for (std::size_t i = 0; i < keyed.size();) {
    group.clear();
    const std::uint32_t component = keyed[i].component;
    for (; i < keyed.size() && keyed[i].component == component; ++i)
      group.push_back(keyed[i].pair);
    if (group.size() == 1) {
      column_of_row[group[0].row] = static_cast<std::int32_t>(group[0].column);
    } else {
      Dense(group).solve(column_of_row);
    }
  }
  return column_of_row;
}

}  // namespace halyard::track
