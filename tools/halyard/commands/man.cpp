// SPDX-License-Identifier: Apache-2.0
// halyard man: manual pages of the program and its commands, from the texts of --help.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string_view>

#include "commands/commands.h"
#include "halyard/codec.h"
#include "halyard/version.h"
#include "options/nearest.h"
#include "report.h"

namespace halyard::tool {
namespace {

/// Escapes text for roff, so that no character starts a request or an escape.
std::string roff(std::string_view text) {
  std::string out;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    begins_line = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string page_name(const CommandSpec& command) {
  return command.name.empty() ? "halyard" : "halyard-" + command.name;
}

std::string synopsis(const CommandSpec& command) {
  std::string out = "\\fBhalyard";
  if (!command.name.empty()) out += " " + roff(command.name);
  out += "\\fR";
  if (!command.commands.empty()) return out + " \\fICOMMAND\\fR ...\n";
  out += " [\\fIOPTIONS\\fR]";
  for (const OptionSpec& option : command.options) {
    const std::string name = roff(option.each_name().back());
    if (option.is_argument()) {
      const std::string value = "\\fI" + name + "\\fR";
      out += option.is_required ? " " + value : " [" + value + "]";
      if (option.is_list()) out += "...";
    } else if (option.is_required) {
      out += " \\fB" + name + "\\fR \\fIVALUE\\fR";
    }
  }
  return out + "\n";
}

std::string options(const CommandSpec& command) {
  std::string out;
  for (const OptionSpec& option : command.options) {
    out += ".TP\n";
    const std::vector<std::string> names = option.each_name();
    for (std::size_t i = 0; i < names.size(); ++i)
      out += (i == 0 ? "\\fB" : ", \\fB") + roff(names[i]) + "\\fR";
    if (option.has_value() && !option.is_argument()) out += " \\fIVALUE\\fR";
    out += "\n" + roff(option.help);
    if (!option.usual.empty()) out += " [" + roff(option.usual) + "]";
    out += "\n";
  }
  return out;
}

/// The text below the options of the help. The lines after "Examples:" keep their line breaks.
std::string footer(const CommandSpec& command) {
  const std::string_view text = command.footer;
  const std::size_t begin = text.find("Examples:\n");
  std::string out;
  std::string_view prose = text.substr(0, begin), examples;
  if (begin != std::string_view::npos) {
    examples = text.substr(begin + std::string_view("Examples:\n").size());
    if (const std::size_t end = examples.find("\n\n"); end != std::string_view::npos) {
      prose = examples.substr(end + 2);
      examples = examples.substr(0, end);
    }
  }
  while (!prose.empty() && prose.back() == '\n')
    prose.remove_suffix(1);
  if (!prose.empty()) {
    std::string paragraphs = roff(prose);
    for (std::size_t at = 0; (at = paragraphs.find("\n\n", at)) != std::string::npos; at += 5)
      paragraphs.replace(at, 2, "\n.PP\n");
    out += ".SH NOTES\n" + paragraphs + "\n";
  }
  if (!examples.empty())
    out += ".SH EXAMPLES\n.nf\n" + roff(examples) + (examples.back() == '\n' ? "" : "\n") + ".fi\n";
  return out;
}

std::string commands(const CommandSpec& command) {
  std::string out;
  for (const CommandSpec& inner : command.commands) {
    if (command.name.empty()) {
      out += ".TP\n\\fB" + roff(page_name(inner)) + "\\fR(1)\n" + roff(inner.help) + "\n";
    } else {
      out += ".SS " + roff("halyard " + inner.name) + "\n" + roff(inner.help) + "\n.PP\n" +
             synopsis(inner) + options(inner);
    }
  }
  return out;
}

std::string page(const CommandSpec& command) {
  std::string title = page_name(command);
  for (char& c : title)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  std::string out =
      fmt::format(".\\\" Made by `halyard man`.\n.TH \"{}\" 1 \"\" \"halyard {}\" \"Halyard\"\n",
                  roff(title), version());
  out += ".SH NAME\n" + roff(page_name(command)) + " \\- " + roff(command.help) + "\n";
  out += ".SH SYNOPSIS\n" + synopsis(command);
  if (!command.commands.empty()) out += ".SH COMMANDS\n" + commands(command);
  out += ".SH OPTIONS\n" + options(command) + footer(command);
  out += ".SH SEE ALSO\n";
  return out + (command.name.empty() ? "The pages of the commands, and docs/ of the source\n"
                                     : "\\fBhalyard\\fR(1)\n");
}

int write_pages(const CommandSpec& program, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::vector<const CommandSpec*> all{&program};
  for (const CommandSpec& command : program.commands)
    all.push_back(&command);
  for (const CommandSpec* command : all) {
    const std::string text = page(*command);
    const auto path = std::filesystem::path(folder) / (page_name(*command) + ".1");
    if (auto written = write_file(path.string(), std::as_bytes(std::span(text))); !written)
      return report("--into " + folder, written.error());
  }
  return exit_ok;
}

int show(const CommandSpec& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CommandSpec& command : program.commands) {
    if (command.name == name) return print_lines(page(command)), exit_ok;
    names.push_back(command.name);
  }
  return report_usage("man " + name, "there is no such command" + did_you_mean(name, names));
}

}  // namespace

CommandSpec man_command(const CommandSpec& program) {
  auto name = std::make_shared<std::string>();
  auto folder = std::make_shared<std::string>();
  CommandSpec spec{"man", "The manual page of halyard or of one command",
                   "Examples:\n  halyard man run | man -l -\n  halyard man --into man1"};
  spec.option("command", name.get(), "Command whose page is shown; default: the program's");
  spec.option("--into", folder.get(), "Write all pages into this folder");
  spec.action = [&program, name, folder] {
    if (!folder->empty()) return write_pages(program, *folder);
    if (!name->empty()) return show(program, *name);
    print_lines(page(program));
    return exit_ok;
  };
  return spec;
}

}  // namespace halyard::tool
