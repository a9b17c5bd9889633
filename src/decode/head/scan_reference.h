// SPDX-License-Identifier: Apache-2.0
// Scans of scores as simple loops: the definitions that tests compare the vector code with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decode/head/argmax_scan.h"

namespace halyard::decode {

/// scan_argmax() as a simple loop, for any strides.
template <class T>
void scan_argmax_reference(const ScoreGrid& grid, T minimum, std::vector<Hit>& hits);

/// scan_multilabel() as a simple loop, for any strides.
template <class T>
void scan_multilabel_reference(const ScoreGrid& grid, T minimum, std::span<const std::int32_t> each,
                               std::vector<Hit>& hits);

}  // namespace halyard::decode
