// SPDX-License-Identifier: Apache-2.0
// Parses a command line by the specification of the commands.
#pragma once

#include "options/command_spec.h"

namespace halyard::tool {

/// Fills in the options of the command that the line names, and returns that command. Null: --help
/// or --version was printed, or a wrong line was reported; `code` is the exit code then. `program`
/// must be complete.
const CommandSpec* parse(const CommandSpec& program, int argc, char** argv, int& code);

}  // namespace halyard::tool
