// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each describes its options, and what it does with them.
#pragma once

#include "options/command_spec.h"

namespace halyard::tool {

CommandSpec run_command();
CommandSpec serve_command();
CommandSpec decode_command();
CommandSpec track_command();
CommandSpec convert_command();
CommandSpec val_command();
CommandSpec bench_command();
CommandSpec info_command();
CommandSpec doctor_command();
CommandSpec pool_command();
CommandSpec topic_command();
CommandSpec top_command();
CommandSpec negotiate_command();
// These two read the specification of the whole program when they run.
CommandSpec completion_command(const CommandSpec& program);
CommandSpec man_command(const CommandSpec& program);

}  // namespace halyard::tool
