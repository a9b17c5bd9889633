// SPDX-License-Identifier: Apache-2.0
// Scores of classes of whole images.
#pragma once

#include <span>

#include "halyard/evaluate.h"

namespace halyard::evaluate {

/// CocoKind::classes of evaluate_coco(). The objects have been checked. Errors: invalid_argument (a
/// second annotation of an image).
Result<CocoScores> class_scores(const CocoTruth& truth, std::span<const CocoObject> found);

}  // namespace halyard::evaluate
