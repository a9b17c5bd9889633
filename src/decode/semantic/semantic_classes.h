// SPDX-License-Identifier: Apache-2.0
// Class maps that a network outputs as ids: the nearest id for each pixel.
#pragma once

#include "decode/semantic/semantic_plan.h"

namespace halyard::decode {

/// Writes the class ids at the nearest pixels in `work`. Errors: invalid_argument (an id that out
/// cannot hold).
Status resample_class_map(const SemanticPlan& plan, const SemanticWorkspace& work, TargetPlane out);

}  // namespace halyard::decode
