// SPDX-License-Identifier: Apache-2.0
// How alike a detection and an annotation are, of each kind but classes.
#pragma once

#include <vector>

#include "halyard/evaluate.h"

namespace halyard::evaluate {

/// At most 1; below 0 never. Both belong to one image and category, and have been checked.
double similarity(CocoKind kind, const CocoObject& found, const CocoObject& truth,
                  const std::vector<double>& sigmas);

/// Pixels of a detection, which decide whether it is small, medium or large.
double found_area(CocoKind kind, const CocoObject& found);

/// Whether an annotation counts neither as found nor as missed.
bool is_ignored(CocoKind kind, const CocoObject& truth);

}  // namespace halyard::evaluate
