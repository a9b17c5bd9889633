// SPDX-License-Identifier: Apache-2.0
// Rectangular linear assignment over the pairs that are allowed. Knows nothing of boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halyard::track {

/// A pair that may be chosen. Pairs that are not listed are forbidden.
struct Pair {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double cost = 0;  ///< finite
};

inline constexpr std::int32_t unassigned = -1;

/// Chooses as many pairs as can be, and of all such choices one of least total cost; exact. Returns
/// the column of each row, or `unassigned`. Deterministic: the order of pairs does not matter.
/// Each (row, column) at most once, row < rows, column < columns.
std::vector<std::int32_t> assign(std::span<const Pair> pairs, std::size_t rows,
                                 std::size_t columns);

}  // namespace halyard::track
