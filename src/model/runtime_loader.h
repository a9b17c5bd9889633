// SPDX-License-Identifier: Apache-2.0
// Loads the shared object of the inference runtime.
#pragma once

#include "model/runtime.h"

namespace halyard::model {

/// Loads the object, at the first call that succeeds. Thread-safe, waits for no lock of ours.
/// Errors: unsupported (the object or what it needs is not there: the message says where it was
/// looked for and what to set).
Result<const Runtime*> load_runtime();

}  // namespace halyard::model
