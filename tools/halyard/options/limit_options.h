// SPDX-License-Identifier: Apache-2.0
// Limits on the command line, of every command that decodes images or videos.
#pragma once

#include <CLI/CLI.hpp>

namespace halyard::tool {

/// --max-width, --max-pixels and the others: they set the process's DecodeLimits.
void add_limit_options(CLI::App& command);

}  // namespace halyard::tool
