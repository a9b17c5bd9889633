// SPDX-License-Identifier: Apache-2.0
// LiteRT behind Engine.
#pragma once

#include "halyard/result.h"
#include "model/runtime.h"

namespace halyard::model {

/// Calls after the first success return the same runtime. Thread-safe. Errors: those of
/// load_litert_library().
Result<const Runtime*> load_litert();

}  // namespace halyard::model
