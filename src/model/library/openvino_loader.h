// SPDX-License-Identifier: Apache-2.0
// Loads the shared object of the OpenVINO runtime.
#pragma once

#include "model/runtime.h"

namespace halyard::model {

/// Loads the object; calls after the first success return it again. Thread-safe; takes no lock of
/// Halyard's. Errors: unsupported (the object or a library that it needs is missing: the message
/// names the searched places and the variable to set).
Result<const Runtime*> load_openvino();

}  // namespace halyard::model
