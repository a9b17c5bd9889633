// SPDX-License-Identifier: Apache-2.0
// The only source that includes CLI11: its header costs each source seconds to compile.
#include "options/parser.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <sstream>
#include <string_view>

#include "halyard/version.h"
#include "options/nearest.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// Adds one option by the kind of its target.
struct AddOption {
  CLI::App& app;
  const OptionSpec& spec;

  CLI::Option* operator()(std::monostate) const {
    if (spec.names != "--version") return app.set_help_flag(spec.names, spec.help);
    return app.set_version_flag(spec.names, std::string("halyard ") + version(), spec.help);
  }
  CLI::Option* operator()(bool* target) const {
    return app.add_flag(spec.names, *target, spec.help);
  }
  CLI::Option* operator()(const TakeCount& take) const {
    return app.add_option_function<std::size_t>(spec.names, take, spec.help);
  }
  CLI::Option* operator()(const TakeText& take) const {
    const auto check = [&option = spec, &take](const std::string& text) {
      if (take(text)) return;
      const auto& words = option.words;
      const std::string rule =
          words.empty() ? option.rule : listed(words) + did_you_mean(text, words);
      throw CLI::ValidationError(option.names, "'" + text + "' is not " + rule);
    };
    return app.add_option_function<std::string>(spec.names, check, spec.help)->type_name("");
  }
  template <class T>
  CLI::Option* operator()(T* target) const {
    return app.add_option(spec.names, *target, spec.help);
  }
};

CLI::Validator range_of(const OptionSpec& spec, bool is_real) {
  if (spec.most == std::numeric_limits<double>::max()) return CLI::PositiveNumber;
  if (is_real) return CLI::Range(spec.least, spec.most);
  return CLI::Range(static_cast<std::int64_t>(spec.least), static_cast<std::int64_t>(spec.most));
}

void add_option(CLI::App& app, const OptionSpec& spec) {
  CLI::Option* const option = std::visit(AddOption{app, spec}, spec.target);
  if (spec.least != spec.most) option->check(range_of(spec, option->get_type_name() == "FLOAT"));
  if (!spec.group.empty()) option->group(spec.group);
  if (!spec.usual.empty()) option->default_str(spec.usual);
  if (spec.is_single) option->allow_extra_args(false);
  option->required(spec.is_required);
}

/// Commands that are no word of the line get no options: all of them would take a millisecond.
void add_command(CLI::App& app, const CommandSpec& spec, std::span<const std::string_view> line) {
  if (!spec.footer.empty()) app.footer(spec.footer);  // else that of the outer command
  for (const OptionSpec& option : spec.options)
    add_option(app, option);
  for (const OptionSpec& option : spec.options) {
    CLI::Option* const added = app.get_option(option.each_name().back());
    for (const char* name : option.excluded)
      added->excludes(app.get_option(name));
    for (const char* name : option.needed)
      added->needs(app.get_option(name));
  }
  if (!spec.commands.empty()) app.require_subcommand(1);
  for (const CommandSpec& inner : spec.commands) {
    CLI::App* const added = app.add_subcommand(inner.last_word(), inner.help);
    if (std::ranges::find(line, added->get_name()) != line.end()) add_command(*added, inner, line);
  }
}

/// The innermost command that the line names.
struct Named {
  const CLI::App* app;
  const CommandSpec* spec;
};

Named named(const CLI::App& app, const CommandSpec& program) {
  Named out{&app, &program};
  while (!out.app->get_subcommands().empty()) {
    out.app = out.app->get_subcommands().front();
    out.spec =
        &*std::ranges::find(out.spec->commands, out.app->get_name(), &CommandSpec::last_word);
  }
  return out;
}

/// A hint with the known name that is nearest to an unknown argument.
std::string meant(const Named& command) {
  for (const std::string& text : command.app->remaining()) {
    std::vector<std::string> names;
    if (text.starts_with("-")) {
      for (const OptionSpec& option : command.spec->options)
        if (!option.is_argument()) names.push_back(option.each_name().back());
    } else {
      for (const CommandSpec& inner : command.spec->commands)
        names.push_back(inner.last_word());
    }
    const std::string name = text.substr(0, text.find('='));
    if (auto hint = did_you_mean(name, names); !hint.empty()) return hint;
  }
  return {};
}

/// Reports a parse error. --help and --version are exceptions too.
int usage(const CLI::App& app, const Named& command, const CLI::ParseError& error,
          const char* first) {
  if (error.get_exit_code() == 0) {
    std::ostringstream text;
    app.exit(error, text, text);
    print_lines(text.str());
    return exit_ok;
  }
  const std::string& name = command.spec->name;
  const std::string hint =
      meant(command) + " (see halyard" + (name.empty() ? "" : " ") + name + " --help)";
  if (command.app == &app && first != nullptr && first[0] != '-')
    return report_usage(first, "no such command" + hint);
  return report_usage("command line", error.what() + hint);
}

}  // namespace

const CommandSpec* parse(const CommandSpec& program, int argc, char** argv, int& code) {
  CLI::App app(program.help, "halyard");
  const std::vector<std::string_view> line(argv, argv + argc);
  add_command(app, program, line);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    code = usage(app, named(app, program), error, argc > 1 ? argv[1] : nullptr);
    return nullptr;
  }
  return named(app, program).spec;
}

}  // namespace halyard::tool
