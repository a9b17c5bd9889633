// SPDX-License-Identifier: Apache-2.0
// Options for the limits of all commands that decode images or videos.
#pragma once

#include <CLI/CLI.hpp>

namespace halyard::tool {

/// Adds --max-width, --max-pixels and the others. They set the process's DecodeLimits.
void add_limit_options(CLI::App& command);

}  // namespace halyard::tool
