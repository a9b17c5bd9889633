// SPDX-License-Identifier: Apache-2.0
// Class maps that a network gives as ids: the nearest id of each pixel.
#pragma once

#include "decode/semantic/semantic_frame.h"

namespace halyard::decode {

/// Class ids at work's nearest pixels. Errors: invalid_argument (an id that out cannot hold).
Status resample_class_map(const SemanticPlan& plan, const SemanticWorkspace& work, TargetPlane out);

}  // namespace halyard::decode
