// SPDX-License-Identifier: Apache-2.0
// Finds plugins of engines: files that a variable names, and those beside the library.
#pragma once

#include <vector>

#include "model/runtimes.h"

namespace halyard::model {

/// In the order of HALYARD_ENGINE_PLUGINS, then of halyard/engines beside the library; files of a
/// folder by name. A plugin that cannot be used is listed by its file's name, and load() has the
/// reason. Loads each file at its first call. Thread-safe.
std::vector<KnownRuntime> plugin_runtimes();

}  // namespace halyard::model
