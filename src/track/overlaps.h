// SPDX-License-Identifier: Apache-2.0
// Which boxes of two lists overlap, and their IoU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "halyard/geometry.h"

namespace halyard::track {

/// IoU of two canonical boxes, computed in double. The result does not depend on the scale of the
/// boxes, however small they are.
double overlap(const Box& a, const Box& b) noexcept;

struct OverlapPair {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
  double iou = 0;  ///< > 0
};

/// Finds overlapping pairs by a sweep along x. Keeps its memory.
class OverlapFinder {
 public:
  /// The pairs with IoU above 0 and at least `minimum`, sorted by row, then column; valid until the
  /// next call. Time: O(n log n) plus the number of pairs that overlap in x.
  std::span<const OverlapPair> find(std::span<const Box> rows, std::span<const Box> columns,
                                    double minimum);

 private:
  void sort_columns(std::span<const Box> columns);
  struct Column {
    Box box;
    std::uint32_t index = 0;
  };
  std::vector<Column> columns_;  // by x1
  std::vector<float> reach_;     // max x2 of all columns up to here
  std::vector<OverlapPair> found_;
};

}  // namespace halyard::track
