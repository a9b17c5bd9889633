// SPDX-License-Identifier: Apache-2.0
// Combinations of values and places, for tests that run over all of them.
#pragma once

#include <cstddef>
#include <iterator>
#include <numeric>
#include <tuple>
#include <type_traits>
#include <vector>

namespace halyard::test {

/// 0, 1, ... end - 1.
inline std::vector<int> upto(int end) {
  std::vector<int> all(static_cast<std::size_t>(end));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The same as indices.
inline std::vector<std::size_t> indices(std::size_t count) {
  std::vector<std::size_t> all(count);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

/// The places of a grid, row by row: `for (const auto [y, x] : grid(rows, columns))`.
template <class T>
class Grid {
 public:
  struct Place {
    T row, column;
    bool operator==(const Place&) const = default;
  };
  struct Iterator {
    Place at;
    T columns;
    const Place& operator*() const { return at; }
    Iterator& operator++() {
      if (++at.column == columns) at = {at.row + 1, 0};
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  Grid(T rows, T columns) : rows_(columns == 0 ? 0 : rows), columns_(columns) {}
  Iterator begin() const { return {{0, 0}, columns_}; }
  Iterator end() const { return {{rows_, 0}, columns_}; }

 private:
  T rows_, columns_;
};
template <class T>
Grid<T> grid(T rows, T columns) {
  return {rows, columns};
}

template <class Visit>
void visit_product(const Visit& visit) {
  visit();
}
template <class Visit, class First, class... Rest>
void visit_product(const Visit& visit, const First& first, const Rest&... rest) {
  for (const auto& value : first)
    visit_product([&](const auto&... others) { visit(value, others...); }, rest...);
}

template <class... Range>
auto combined(const Range&... ranges) {
  std::vector<std::tuple<std::remove_cvref_t<decltype(*std::begin(ranges))>...>> all;
  visit_product([&](const auto&... values) { all.emplace_back(values...); }, ranges...);
  return all;
}

/// One tuple for each combination of an element of each list, in the order of nested loops:
/// `for (const auto& [from, is_wide] : product(formats, {false, true}))`. Only the first list may
/// be no array and no list in braces, unless none is in braces.
template <class... T, std::size_t... N>
auto product(const T (&... lists)[N]) {
  return combined(lists...);
}
template <class First, class... T, std::size_t... N>
requires(!std::is_array_v<First>) auto product(const First& first, const T (&... lists)[N]) {
  return combined(first, lists...);
}
template <class First, class... Range>
requires(!(std::is_array_v<Range> && ...)) auto product(const First& first,
                                                        const Range&... ranges) {
  return combined(first, ranges...);
}

}  // namespace halyard::test
