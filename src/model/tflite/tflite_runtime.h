// SPDX-License-Identifier: Apache-2.0
// TFLite behind Engine: its C library is loaded when it is first needed.
#pragma once

#include "halyard/result.h"
#include "model/runtime.h"

namespace halyard::model {

/// Calls after the first success return the same runtime. Thread-safe. Errors: those of
/// load_tflite_library().
Result<const Runtime*> load_tflite();

}  // namespace halyard::model
