// SPDX-License-Identifier: Apache-2.0
// The scan over all scores of a head: for each anchor its best class, if that reaches the
// threshold. The one part of decoding that touches every byte; everything after sees hits only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/format.h"

namespace halyard::decode {

/// Where the scores of one batch element lie. `data` is anchor 0, class 0. anchors < 2^31 and
/// classes < 2^31, both >= 1; the strides may have any sign.
struct ScoreGrid {
  const std::byte* data = nullptr;
  std::size_t anchors = 0;
  std::size_t classes = 0;
  std::ptrdiff_t anchor_stride_bytes = 0;
  std::ptrdiff_t class_stride_bytes = 0;
};

/// An anchor whose best class reached the threshold. `raw` is the stored value, exact as a float.
struct Hit {
  std::uint32_t anchor = 0;
  std::int32_t label = 0;
  float raw = 0;
  friend bool operator==(const Hit&, const Hit&) = default;
};

/// Appends the hits in the order of anchors. T is float, Half, BFloat16 or an integer of 8 or 16
/// bits, and `minimum` the smallest passing value. Of equal best classes the first wins; NaN never
/// passes. Runs on the widest vectors of the machine where one of the strides is the element.
template <class T>
void scan_argmax(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits);

}  // namespace halyard::decode
