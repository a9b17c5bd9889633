// SPDX-License-Identifier: Apache-2.0
// Finds overlapping pairs by a sweep along x.
#include "track/overlaps.h"

#include <algorithm>

#include "base/box_math.h"

namespace halyard::track {

double overlap(const Box& a, const Box& b) noexcept {
  return overlap_areas<double>(a, b).iou();
}

void OverlapFinder::sort_columns(std::span<const Box> columns) {
  columns_.clear();
  for (std::uint32_t i = 0; i < columns.size(); ++i)
    columns_.push_back({columns[i], i});
  std::sort(columns_.begin(), columns_.end(), [](const Column& a, const Column& b) {
    return a.box.x1 != b.box.x1 ? a.box.x1 < b.box.x1 : a.index < b.index;
  });
  reach_.clear();
  for (const Column& column : columns_)
    reach_.push_back(reach_.empty() ? column.box.x2 : std::max(reach_.back(), column.box.x2));
}

std::span<const OverlapPair> OverlapFinder::find(std::span<const Box> rows,
                                                 std::span<const Box> columns, double minimum) {
  sort_columns(columns);
  found_.clear();
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    const Box& box = rows[row];
    const std::size_t before = found_.size();
    const auto first = std::upper_bound(reach_.begin(), reach_.end(), box.x1) - reach_.begin();
    for (auto i = static_cast<std::size_t>(first); i < columns_.size(); ++i) {
      const Column& column = columns_[i];
      if (column.box.x1 >= box.x2) break;
      if (column.box.y1 >= box.y2 || box.y1 >= column.box.y2 || box.x1 >= column.box.x2) continue;
      const double iou = overlap(box, column.box);
      if (iou > 0 && iou >= minimum) found_.push_back({row, column.index, iou});
    }
    std::sort(found_.begin() + static_cast<std::ptrdiff_t>(before), found_.end(),
              [](const OverlapPair& a, const OverlapPair& b) { return a.column < b.column; });
  }
  return found_;
}

}  // namespace halyard::track
