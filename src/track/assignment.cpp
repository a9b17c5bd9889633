// SPDX-License-Identifier: Apache-2.0
// Shortest augmenting paths in each connected component of the allowed pairs. In tracking nearly
// all components have one or two rows.
#include "halyard/assignment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/local.h"
#include "base/text/format_error.h"

namespace halyard {
namespace {

using Pair = AssignmentPair;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

bool precedes(const Pair& a, const Pair& b) noexcept {
  return a.row != b.row ? a.row < b.row : a.column < b.column;
}

// Disjoint sets over rows and columns; columns are numbered after the rows.
class Components {
 public:
  void reset(std::size_t nodes) {
    parent_.resize(nodes);
    std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
  }
  std::uint32_t find(std::uint32_t node) noexcept {
    while (parent_[node] != node) {
      parent_[node] = parent_[parent_[node]];
      node = parent_[node];
    }
    return node;
  }
  // The smaller index stays the root, so a component's root is its first row.
  void join(std::uint32_t a, std::uint32_t b) noexcept {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t> parent_;
};

// One component as a dense matrix. A row may also stay alone, at the cost `alone`. This is a column
// of the row's own. It is not stored: no other row can take it and its potential stays 0.
class Dense {
 public:
  void prepare(std::size_t columns) {
    if (local_.size() < columns) local_.resize(columns);
  }

  // `pairs` are sorted by row, then column. Without `alone`: as many pairs as possible.
  void solve(std::span<const Pair> pairs, std::optional<double> alone,
             std::vector<std::int32_t>& column_of_row) {
    load(pairs);
    // Costs more than any choice of pairs can save, so that pairs have priority.
    alone_ = alone.value_or((largest_ + 1) * 2 * static_cast<double>(rows_.size() + 1));
    row_potential_.assign(rows_.size(), 0);
    column_potential_.assign(columns_.size(), 0);
    row_of_.assign(columns_.size(), nobody);
    column_of_.assign(rows_.size(), nobody);
    for (std::uint32_t r = 0; r < rows_.size(); ++r)
      augment(r);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (column_of_[r] != nobody)
        column_of_row[rows_[r]] = static_cast<std::int32_t>(columns_[column_of_[r]]);
    }
  }

 private:
  void load(std::span<const Pair> pairs) {
    rows_.clear();
    columns_.clear();
    for (const Pair& pair : pairs) {
      if (rows_.empty() || rows_.back() != pair.row) rows_.push_back(pair.row);
      columns_.push_back(pair.column);
    }
    std::sort(columns_.begin(), columns_.end());
    columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
    for (std::uint32_t c = 0; c < columns_.size(); ++c)
      local_[columns_[c]] = c;
    cost_.assign(rows_.size() * columns_.size(), infinity);
    largest_ = 0;
    std::size_t row = 0;
    for (const Pair& pair : pairs) {
      if (rows_[row] != pair.row) ++row;
      cost_[row * columns_.size() + local_[pair.column]] = pair.cost;
      largest_ = std::max(largest_, std::abs(pair.cost));
    }
  }

  // Dijkstra over reduced costs from `start` to the nearest free column, or to the row that is best
  // left alone; then flips the path.
  void augment(std::uint32_t start) {
    distance_.assign(columns_.size(), infinity);
    previous_.assign(columns_.size(), nobody);
    done_.assign(columns_.size(), false);
    std::uint32_t row = start;
    std::uint32_t end = nobody;
    std::uint32_t loner = nobody;
    double base = 0;
    double alone = infinity;
    do {
      if (const double here = base + alone_ - row_potential_[row]; here < alone) {
        alone = here;
        loner = row;
      }
      end = nearest(row, base);
      if (end == nobody || alone <= distance_[end]) {
        end = column_of_[loner];
        column_of_[loner] = nobody;
        settle(start, nobody, alone);
        break;
      }
      base = distance_[end];
      done_[end] = true;
      row = row_of_[end];
      if (row == nobody) settle(start, end, base);
    } while (row != nobody);
    while (end != nobody) {
      const std::uint32_t r = previous_[end];
      row_of_[end] = r;
      std::swap(column_of_[r], end);
    }
  }

  // Updates the potentials after a shortest path of `length` that ends in the column `end`, or in
  // no column.
  void settle(std::uint32_t start, std::uint32_t end, double length) {
    row_potential_[start] += length;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!done_[c] || c == end) continue;
      row_potential_[row_of_[c]] += length - distance_[c];
      column_potential_[c] -= length - distance_[c];
    }
  }

  // Relaxes from a row at distance `base`. Returns the nearest open column, or `nobody` if none can
  // be reached.
  std::uint32_t nearest(std::uint32_t row, double base) {
    std::uint32_t best = nobody;
    double minimum = infinity;
    const double* cost = cost_.data() + row * columns_.size();
    const double shift = base - row_potential_[row];
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
      if (done_[c]) continue;
      const double through = cost[c] + shift - column_potential_[c];
      if (through < distance_[c]) {
        distance_[c] = through;
        previous_[c] = row;
      }
      if (distance_[c] < minimum) {
        minimum = distance_[c];
        best = c;
      }
    }
    return best;
  }

  std::vector<std::uint32_t> rows_, columns_;  // indices of the whole problem, ascending
  std::vector<std::uint32_t> local_;           // column of the whole problem -> index into columns_
  double largest_ = 0;
  double alone_ = 0;
  std::vector<double> cost_, row_potential_, column_potential_, distance_;
  std::vector<std::uint32_t> row_of_, column_of_, previous_;
  std::vector<char> done_;
};

}  // namespace

struct HALYARD_LOCAL Assignment::Workspace {
  std::vector<Pair> sorted;   // used if the caller's are not sorted
  std::vector<Pair> grouped;  // by component, then row, then column
  std::vector<std::size_t> group_end;
  Components components;
  Dense dense;
  std::vector<std::int32_t> column_of_row;

  Status check(std::span<const Pair>& pairs, std::size_t rows, std::size_t columns);
  void group(std::span<const Pair> pairs, std::size_t rows, std::size_t columns);
  Result<std::span<const std::int32_t>> solve(std::span<const Pair> pairs, std::size_t rows,
                                              std::size_t columns, std::optional<double> alone);
};

// Sorts `pairs` if necessary.
Status Assignment::Workspace::check(std::span<const Pair>& pairs, std::size_t rows,
                                    std::size_t columns) {
  constexpr std::size_t maximum = std::numeric_limits<std::int32_t>::max();
  if (rows > maximum || columns > maximum) {
    return fail(Errc::invalid_argument, "rows, columns: at most 2147483647 each", "{}, {}", rows,
                columns);
  }
  for (const Pair& pair : pairs) {
    if (pair.row >= rows || pair.column >= columns || !std::isfinite(pair.cost)) {
      return fail(Errc::invalid_argument,
                  "pairs: row and column must be inside, and the cost finite",
                  "({}, {}) of {} x {}, cost {}", pair.row, pair.column, rows, columns, pair.cost);
    }
  }
  if (!std::is_sorted(pairs.begin(), pairs.end(), precedes)) {
    sorted.assign(pairs.begin(), pairs.end());
    std::sort(sorted.begin(), sorted.end(), precedes);
    pairs = sorted;
  }
  const auto twice = std::adjacent_find(
      pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return !precedes(a, b); });
  if (twice != pairs.end()) {
    return fail(Errc::invalid_argument, "pairs: must not repeat a pair", "({}, {})", twice->row,
                twice->column);
  }
  return {};
}

// Counting sort by component. group_end[r] is the end of the pairs of the component with root row
// r.
void Assignment::Workspace::group(std::span<const Pair> pairs, std::size_t rows,
                                  std::size_t columns) {
  components.reset(rows + columns);
  for (const Pair& pair : pairs)
    components.join(pair.row, static_cast<std::uint32_t>(rows) + pair.column);
  group_end.assign(rows + 1, 0);
  for (const Pair& pair : pairs)
    ++group_end[components.find(pair.row) + 1];
  std::partial_sum(group_end.begin(), group_end.end(), group_end.begin());
  grouped.resize(pairs.size());
  for (const Pair& pair : pairs)
    grouped[group_end[components.find(pair.row)]++] = pair;
}

Result<std::span<const std::int32_t>> Assignment::Workspace::solve(std::span<const Pair> pairs,
                                                                   std::size_t rows,
                                                                   std::size_t columns,
                                                                   std::optional<double> alone) {
  HALYARD_RETURN_IF_ERROR(check(pairs, rows, columns));
  column_of_row.assign(rows, unassigned);
  if (pairs.empty()) return std::span<const std::int32_t>(column_of_row);
  group(pairs, rows, columns);
  dense.prepare(columns);
  std::size_t begin = 0;
  for (std::size_t root = 0; root < rows; ++root) {
    const auto own = std::span<const Pair>(grouped).subspan(begin, group_end[root] - begin);
    begin = group_end[root];
    if (own.size() == 1) {
      if (!alone || own[0].cost < *alone)
        column_of_row[own[0].row] = static_cast<std::int32_t>(own[0].column);
    } else if (!own.empty()) {
      dense.solve(own, alone, column_of_row);
    }
  }
  return std::span<const std::int32_t>(column_of_row);
}

Assignment::Assignment() : work_(std::make_unique<Workspace>()) {}
Assignment::Assignment(Assignment&&) noexcept = default;
Assignment& Assignment::operator=(Assignment&&) noexcept = default;
Assignment::~Assignment() = default;

Result<std::span<const std::int32_t>> Assignment::max_pairs(std::span<const Pair> pairs,
                                                            std::size_t rows, std::size_t columns) {
  return work_->solve(pairs, rows, columns, std::nullopt);
}

Result<std::span<const std::int32_t>> Assignment::cheapest(std::span<const Pair> pairs,
                                                           std::size_t rows, std::size_t columns,
                                                           double alone) {
  if (!std::isfinite(alone)) return fail(Errc::invalid_argument, "alone: must be finite");
  return work_->solve(pairs, rows, columns, alone);
}

}  // namespace halyard
