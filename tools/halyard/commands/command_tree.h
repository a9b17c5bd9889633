// SPDX-License-Identifier: Apache-2.0
// The parser's commands and options as plain values, for completion and manual pages.
#pragma once

#include <string>
#include <vector>

// The parser's header is not included here: it costs each source file seconds to compile.
namespace CLI {
class App;
}

namespace halyard::tool {

struct OptionEntry {
  std::vector<std::string> names;  ///< "-m", "--model"; an argument has one name
  std::string value;               ///< placeholder of its value; "" for flags
  std::vector<std::string> words;  ///< the only values it accepts; empty: any text
  std::string help;
  std::string usual;  ///< default, if it is shown
  bool is_argument = false;
  bool is_required = false;
  bool is_list = false;
};

struct CommandEntry {
  std::string name;  ///< "topic echo"; "" for the program
  std::string help;
  std::string footer;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> commands;
};

CommandEntry command_tree(const CLI::App& app);

}  // namespace halyard::tool
