// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime behind Engine: its library is loaded when it is first needed.
#pragma once

#include "halyard/result.h"
#include "model/runtime.h"

namespace halyard::model {

/// Calls after the first success return the same runtime. Thread-safe. Errors: unsupported,
/// version.
Result<const Runtime*> load_onnxruntime();

}  // namespace halyard::model
