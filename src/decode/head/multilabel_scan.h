// SPDX-License-Identifier: Apache-2.0
// The scan for all classes of an anchor that reach a threshold, each its own where classes are
// quantized apart.
#pragma once

#include <span>

#include "decode/head/argmax_scan.h"

namespace halyard::decode {

/// Appends a hit for each class of each anchor whose value is at least `minimum`, or where `each`
/// is not empty (integers only) each[class]: by anchors, then by classes. NaN never passes. `work`
/// is memory to reuse. T and grid as of scan_argmax().
template <class T>
void scan_multilabel(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
                     std::vector<Hit>& work, std::vector<Hit>& hits);

}  // namespace halyard::decode
