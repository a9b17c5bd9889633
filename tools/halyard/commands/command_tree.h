// SPDX-License-Identifier: Apache-2.0
// The parser's commands and options as plain values: what completion and manual pages are made of.
#pragma once

#include <string>
#include <vector>

// The parser's header costs every source that sees it seconds.
namespace CLI {
class App;
}

namespace halyard::tool {

struct OptionEntry {
  std::vector<std::string> names;  ///< "-m", "--model"; of an argument its one name
  std::string value;               ///< what it takes, "" of flags
  std::vector<std::string> words;  ///< the only ones that it takes; empty: any text
  std::string help;
  std::string usual;  ///< default, where it is shown
  bool is_argument = false;
  bool is_required = false;
  bool is_list = false;
};

struct CommandEntry {
  std::string name;  ///< "topic echo"; "" of the program
  std::string help;
  std::string footer;
  std::vector<OptionEntry> options;
  std::vector<CommandEntry> commands;
};

CommandEntry command_tree(const CLI::App& app);

}  // namespace halyard::tool
