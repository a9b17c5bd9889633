// SPDX-License-Identifier: Apache-2.0
// Scans of scores by plain loops: the definitions that the vectors are tested against.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/head/argmax_scan.h"

namespace halyard::decode {

/// The same by plain loops, for any strides: the definition that the other is tested against.
template <class T>
void scan_argmax_reference(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits);

/// The same by plain loops: the definition that the other is tested against.
template <class T>
void scan_multilabel_reference(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
                               std::vector<Hit>& hits);

}  // namespace halyard::decode
