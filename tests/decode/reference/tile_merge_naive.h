// SPDX-License-Identifier: Apache-2.0
// Merging as its definition reads: base by base over all that is left. Quadratic, and tests' own.
#pragma once

#include <vector>

#include "halyard/tile_merge.h"

namespace halyard::test {

constexpr MergeStrategy strategies[] = {MergeStrategy::keep_best, MergeStrategy::merge_union,
                                        MergeStrategy::grow};

/// Canonical, finite boxes with scores that are no NaN.
std::vector<Detection> naive_merge(std::vector<Detection> left, const MergeOptions& o);

}  // namespace halyard::test
