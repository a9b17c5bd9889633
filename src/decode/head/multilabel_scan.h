// SPDX-License-Identifier: Apache-2.0
// Scans for all classes of an anchor that reach a threshold. Each class has its own threshold if
// the classes have separate quantizations.
#pragma once

#include <span>

#include "decode/head/argmax_scan.h"

namespace halyard::decode {

/// Appends a hit for each class of each anchor whose value is at least `minimum`, or each[class] if
/// `each` is not empty (integers only). Order: by anchor, then by class. NaN never passes. `work`
/// is reused memory. T and grid: as for scan_argmax().
template <class T>
void scan_multilabel(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
                     std::vector<Hit>& work, std::vector<Hit>& hits);

}  // namespace halyard::decode
