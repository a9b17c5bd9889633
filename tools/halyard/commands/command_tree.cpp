// SPDX-License-Identifier: Apache-2.0
// Reads the parser itself, so that no option is listed twice.
#include "commands/command_tree.h"

#include <CLI/CLI.hpp>

#include "options/parsed_option.h"

namespace halyard::tool {
namespace {

OptionEntry entry_of(const CLI::Option& option) {
  OptionEntry out;
  for (const std::string& name : option.get_snames())
    out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    out.names.push_back("--" + name);
  out.is_argument = option.get_positional() && out.names.empty();
  if (out.is_argument) out.names.push_back(option.get_single_name());
  out.value = option.get_items_expected_max() == 0 ? "" : "VALUE";
  out.words = words_of(&option);
  out.help = option.get_description();
  out.usual = option.get_default_str();
  out.is_required = option.get_required();
  out.is_list = option.get_expected_max() > 1;
  return out;
}

CommandEntry entry_of(const CLI::App& app, const std::string& name) {
  CommandEntry out{name, app.get_description(), app.get_footer(), {}, {}};
  for (const CLI::Option* option : app.get_options())
    out.options.push_back(entry_of(*option));
  for (const CLI::App* command : app.get_subcommands({}))
    out.commands.push_back(
        entry_of(*command, name.empty() ? command->get_name() : name + " " + command->get_name()));
  return out;
}

}  // namespace

CommandEntry command_tree(const CLI::App& app) {
  return entry_of(app, "");
}

}  // namespace halyard::tool
