// SPDX-License-Identifier: Apache-2.0
// Checks a request for a class map and fills in defaults.
#pragma once

#include "decode/semantic/semantic_frame.h"

namespace halyard::decode {

/// Errors: as SemanticMapper::map().
Result<SemanticPlan> plan_semantic(const Tensor& scores, const SemanticOptions& options,
                                   const Tensor& out, const Tensor* confidence);

}  // namespace halyard::decode
