// SPDX-License-Identifier: Apache-2.0
// A plugin's table as a runtime.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "halyard/c/engine_plugin.h"
#include "halyard/result.h"
#include "model/runtime.h"

namespace halyard::model {

/// Errors: version (the table is for another version), malformed (it is not complete; names what
/// is wrong).
Result<std::unique_ptr<const Runtime>> make_plugin_runtime(const hal_engine_plugin* table);

}  // namespace halyard::model
