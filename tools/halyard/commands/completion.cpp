// SPDX-License-Identifier: Apache-2.0
// halyard completion: scripts that let a shell complete the program's command lines.
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>

#include "commands/commands.h"
#include "halyard/codec.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// Calls `each` for the program and for every command of the tree.
void walk(const CommandSpec& command, const std::function<void(const CommandSpec&)>& each) {
  each(command);
  for (const CommandSpec& inner : command.commands)
    walk(inner, each);
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

/// Names of options and of inner commands, separated by spaces.
std::string words_at(const CommandSpec& command) {
  std::vector<std::string> words;
  for (const CommandSpec& inner : command.commands)
    words.push_back(inner.last_word());
  for (const OptionSpec& option : command.options)
    if (!option.is_argument())
      for (const std::string& name : option.each_name())
        words.push_back(name);
  return joined(words);
}

std::string first_words(const std::string& name) {
  const std::size_t blank = name.find_last_of(' ');
  return blank == std::string::npos ? "" : name.substr(0, blank);
}

/// Arguments: cases that find the inner command, cases that find an option's values, and the words
/// of each command.
constexpr char bash_format[] =
    "# bash completion for halyard, made by `halyard completion bash`\n"
    "_halyard() {{\n"
    "  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
    "  local command='' words='' i\n"
    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "    case \"$command:${{COMP_WORDS[i]}}\" in\n"
    "{}"
    "    esac\n"
    "  done\n"
    "  COMPREPLY=()\n"
    "  case \"$command:$prev\" in\n"
    "{}"
    "  esac\n"
    "  if [[ -z $words ]]; then\n"
    "    case \"$command\" in\n"
    "{}"
    "    esac\n"
    "  fi\n"
    "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "}}\n"
    "complete -o default -F _halyard halyard\n";

std::string bash_script(const CommandSpec& program) {
  std::string commands, values, words;
  walk(program, [&](const CommandSpec& command) {
    if (!command.name.empty()) {
      commands += fmt::format("      '{}:{}') command='{}' ;;\n", first_words(command.name),
                              command.last_word(), command.name);
    }
    std::string files;
    for (const OptionSpec& option : command.options) {
      if (option.is_argument() || !option.has_value()) continue;
      for (const std::string& name : option.each_name()) {
        if (option.words.empty()) {
          files += fmt::format("{}'{}:{}'", files.empty() ? "" : "|", command.name, name);
        } else {
          values +=
              fmt::format("    '{}:{}') words='{}' ;;\n", command.name, name, joined(option.words));
        }
      }
    }
    if (!files.empty()) values += fmt::format("    {}) return ;;\n", files);
    words += fmt::format("      '{}') words='{}' ;;\n", command.name, words_at(command));
  });
  return fmt::format(bash_format, commands, values, words);
}

/// Escapes a text for use between single quotes.
std::string quoted(const std::string& text, const std::string& escaped) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (escaped.find(c) != std::string::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string zsh_options(const CommandSpec& command, const char* indent) {
  std::string out;
  for (const OptionSpec& option : command.options) {
    const std::string action = option.words.empty() ? "_files" : "(" + joined(option.words) + ")";
    if (option.is_argument()) {
      out +=
          fmt::format("{}'{}:{}:_files' \\\n", indent, option.is_list() ? "*" : "", option.names);
      continue;
    }
    for (const std::string& name : option.each_name())
      out += fmt::format("{}'{}[{}]{}' \\\n", indent, name, quoted(option.help, "[]:\\"),
                         option.has_value() ? ":value:" + action : "");
  }
  return out;
}

std::string zsh_commands(const CommandSpec& command) {
  std::string out;
  for (const CommandSpec& inner : command.commands)
    out += fmt::format("'{}:{}' ", inner.last_word(), quoted(inner.help, ":\\"));
  return out;
}

/// Code for the commands of one level, whose names are at word `depth`.
std::string zsh_level(const CommandSpec& command, int depth) {
  const std::string indent(static_cast<std::size_t>(4 * depth - 6), ' ');
  std::string out = fmt::format(
      "{0}if (( CURRENT == {1} )); then\n{0}  commands=({2})\n{0}  _describe command commands\n"
      "{0}  return\n{0}fi\n{0}case $words[{1}] in\n",
      indent, depth, zsh_commands(command));
  for (const CommandSpec& inner : command.commands) {
    out += fmt::format("{}  {})\n", indent, inner.last_word());
    out += inner.commands.empty()
               ? fmt::format("{0}    _arguments \\\n{1}{0}      && return\n", indent,
                             zsh_options(inner, (indent + "      ").c_str()))
               : zsh_level(inner, depth + 1);
    out += fmt::format("{}    ;;\n", indent);
  }
  return out + indent + "esac\n";
}

std::string zsh_script(const CommandSpec& program) {
  return "#compdef halyard\n# zsh completion for halyard, made by `halyard completion zsh`\n"
         "_halyard() {\n  local -a commands\n" +
         zsh_level(program, 2) + "}\n_halyard \"$@\"\n";
}

std::string fish_script(const CommandSpec& program) {
  std::string out = "# fish completion for halyard, made by `halyard completion fish`\n";
  walk(program, [&](const CommandSpec& command) {
    std::string when = "__fish_use_subcommand";
    if (!command.name.empty()) {
      when = "__fish_seen_subcommand_from " + command.last_word();
      if (const std::string outer = first_words(command.name); !outer.empty())
        when = "__fish_seen_subcommand_from " + outer + "; and " + when;
    }
    for (const CommandSpec& inner : command.commands)
      out += fmt::format("complete -c halyard -n '{}' -f -a {} -d '{}'\n", when, inner.last_word(),
                         quoted(inner.help, "\\"));
    for (const OptionSpec& option : command.options) {
      if (option.is_argument()) continue;
      std::string names;
      for (const std::string& name : option.each_name())
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      const std::string takes = !option.has_value()    ? ""
                                : option.words.empty() ? " -r -F"
                                                       : " -x -a '" + joined(option.words) + "'";
      out += fmt::format("complete -c halyard -n '{}'{}{} -d '{}'\n", when, names, takes,
                         quoted(option.help, "\\"));
    }
  });
  return out;
}

using Script = std::string (*)(const CommandSpec&);
struct Shell {
  const char* name;
  const char* file;  ///< relative to --into, as `make install` places it
  Script script;
};
constexpr Shell shells[] = {{"bash", "bash-completion/completions/halyard", bash_script},
                            {"zsh", "zsh/site-functions/_halyard", zsh_script},
                            {"fish", "fish/vendor_completions.d/halyard.fish", fish_script}};

int write_scripts(const CommandSpec& program, const std::string& folder) {
  for (const Shell& shell : shells) {
    const auto path = std::filesystem::path(folder) / shell.file;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    const std::string text = shell.script(program);
    if (auto written = write_file(path.string(), std::as_bytes(std::span(text))); !written)
      return report("--into " + folder, written.error());
  }
  return exit_ok;
}

constexpr const char* completion_examples =
    "`make install` places the files; without it, for one shell:\n"
    "\n"
    "Examples:\n"
    "  source <(halyard completion bash)\n"
    "  halyard completion zsh > ~/.zfunc/_halyard\n"
    "  halyard completion fish | source";

}  // namespace

CommandSpec completion_command(const CommandSpec& program) {
  auto shell = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  CommandSpec spec{"completion", "What bash, zsh or fish completes halyard with",
                   completion_examples};
  spec.word("shell", *shell, {"bash", "zsh", "fish"}, "bash, zsh or fish");
  spec.option("--into", folder.get(), "Write the files of all shells below this folder");
  spec.action = [&program, shell, folder] {
    if (shell->empty() == folder->empty())
      return report_usage("completion", "needs one of bash, zsh, fish and --into");
    if (!folder->empty()) return write_scripts(program, *folder);
    for (const Shell& each : shells)
      if (*shell == each.name) print_lines(each.script(program));
    return exit_ok;
  };
  return spec;
}

}  // namespace halyard::tool
