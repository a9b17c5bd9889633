// SPDX-License-Identifier: Apache-2.0
// The subcommands. Each adds its options to the parser. The chosen one sets the action.
#pragma once

#include <functional>

// The parser's header is not included here: it costs each source file seconds to compile.
namespace CLI {
class App;
}

namespace halyard::tool {

/// Runs after parsing. Returns the exit code.
using Action = std::function<int()>;

void add_run(CLI::App& app, Action& action);
void add_serve(CLI::App& app, Action& action);
void add_decode(CLI::App& app, Action& action);
void add_track(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_val(CLI::App& app, Action& action);
void add_bench(CLI::App& app, Action& action);
void add_info(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_pool(CLI::App& app, Action& action);
void add_topic(CLI::App& app, Action& action);
void add_top(CLI::App& app, Action& action);
void add_negotiate(CLI::App& app, Action& action);
void add_completion(CLI::App& app, Action& action);
void add_man(CLI::App& app, Action& action);

}  // namespace halyard::tool
