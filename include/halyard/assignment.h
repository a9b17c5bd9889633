// SPDX-License-Identifier: Apache-2.0
// Assignment: pairs rows with columns at least total cost, exactly. Does not depend on boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "halyard/export.h"
#include "halyard/result.h"

HALYARD_EXPORTS_BEGIN
namespace halyard {

/// A pair that may be chosen. Pairs that are not listed are forbidden.
struct AssignmentPair {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double cost = 0;  ///< finite, may be negative
};

/// Linear assignment over a sparse list of allowed pairs: each row and each column is in at most
/// one chosen pair. Exact: shortest augmenting paths (Jonker and Volgenant, 1987; rectangular form
/// after Crouse, 2016) on each connected component of the pairs, O(rows^2 columns) within one.
///
/// Deterministic: the order of the pairs does not matter. Keeps its memory: a call that needs no
/// more than an earlier one allocates nothing. One object serves one thread at a time.
/// Errors of both calls: invalid_argument (an index out of range, a cost that is not finite, a pair
/// that is listed twice).
class Assignment {
 public:
  static constexpr std::int32_t unassigned = -1;

  Assignment();
  Assignment(Assignment&&) noexcept;
  Assignment& operator=(Assignment&&) noexcept;
  ~Assignment();

  /// Chooses as many pairs as possible, and among such choices one of least total cost. Returns the
  /// column of each row, or `unassigned`; valid until the next call.
  Result<std::span<const std::int32_t>> max_pairs(std::span<const AssignmentPair> pairs,
                                                  std::size_t rows, std::size_t columns);

  /// Chooses the pairs of least total cost, where each unassigned row costs `alone` (finite). A
  /// pair whose cost is not below `alone` is never chosen. The return value is as in max_pairs().
  Result<std::span<const std::int32_t>> cheapest(std::span<const AssignmentPair> pairs,
                                                 std::size_t rows, std::size_t columns,
                                                 double alone);

 private:
  struct Workspace;
  std::unique_ptr<Workspace> work_;
};

}  // namespace halyard
HALYARD_EXPORTS_END
