// SPDX-License-Identifier: Apache-2.0
// Scans all scores of a head: the best class of each anchor, if it reaches the threshold. Only this
// part of decoding reads every byte; all later parts see only hits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "halyard/format.h"

namespace halyard::decode {

/// Where the scores of one batch element lie. `data` points to anchor 0, class 0. anchors and
/// classes are in [1, 2^31). The strides can be negative.
struct ScoreGrid {
  const std::byte* data = nullptr;
  std::size_t anchors = 0;
  std::size_t classes = 0;
  std::ptrdiff_t anchor_stride_bytes = 0;
  std::ptrdiff_t class_stride_bytes = 0;
};

/// An anchor whose best class reaches the threshold. `raw` is the stored value, exact as a float.
struct Hit {
  std::uint32_t anchor = 0;
  std::int32_t label = 0;
  float raw = 0;
  friend bool operator==(const Hit&, const Hit&) = default;
};

/// Appends the hits in the order of anchors. T is float, Half, BFloat16 or an integer of 8 or 16
/// bits; `minimum` is the smallest passing value. Of equal best classes the first wins. NaN never
/// passes. Uses the widest vectors of the machine if one of the strides is the size of an element.
template <class T>
void scan_argmax(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits);

}  // namespace halyard::decode
