// SPDX-License-Identifier: Apache-2.0
// Options for the limits of all commands that decode images or videos.
#pragma once

namespace halyard::tool {

struct CommandSpec;

/// Adds --max-width, --max-pixels and the others. They set the process's DecodeLimits.
void add_limit_options(CommandSpec& spec);

}  // namespace halyard::tool
