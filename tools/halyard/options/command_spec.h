// SPDX-License-Identifier: Apache-2.0
// The program's commands as plain data. options/parser.h, completions and manual pages read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace halyard::tool {

/// Takes the text of a value; false: the option does not accept it.
using TakeText = std::function<bool(const std::string&)>;
using TakeCount = std::function<void(std::size_t)>;

/// What gets the value. bool: a flag. A vector: values that follow each other, or an option that is
/// given several times. monostate: the parser acts itself.
using OptionTarget =
    std::variant<std::monostate, bool*, std::string*, std::vector<std::string>*,
                 std::vector<double>*, int*, unsigned*, std::size_t*, std::int64_t*, float*,
                 double*, std::optional<float>*, std::optional<double>*,
                 std::optional<std::uint64_t>*, TakeText, TakeCount>;

struct OptionSpec {
  std::string names;  ///< "-m,--model"; without dashes: an argument
  OptionTarget target;
  std::string help;
  std::string rule = {};                ///< of a TakeText: "'x' is not <rule>"
  std::vector<std::string> words = {};  ///< of a TakeText instead: the only ones that it accepts
  std::string usual = {};               ///< default, if it is shown
  std::string group = {};               ///< heading in the help; empty: the usual one
  std::vector<const char*> excluded = {}, needed = {};  ///< names of other options
  double least = 0, most = 0;                           ///< range of numbers; 0, 0: any
  bool is_required = false;
  bool is_single = false;  ///< a vector that gets one value each time

  OptionSpec& in(double low, double high) { return least = low, most = high, *this; }
  OptionSpec& positive();  ///< numbers above 0
  OptionSpec& required() { return is_required = true, *this; }
  OptionSpec& shown();  ///< shows the target's value as default
  OptionSpec& without(std::vector<const char*> names) { return excluded = std::move(names), *this; }

  bool is_argument() const { return names[0] != '-'; }
  bool is_list() const;
  bool has_value() const;  ///< no flag
  std::vector<std::string> each_name() const;
};

struct CommandSpec {
  std::string name;  ///< "topic echo"; "" for the program
  std::string help;
  std::string footer = {};                 ///< text below the options of the help
  std::vector<OptionSpec> options = {};    ///< complete() adds --help and --version
  std::vector<CommandSpec> commands = {};  ///< if there are some, one must follow
  std::function<int()> action = {};        ///< runs after parsing; returns the exit code

  /// Adds an option. The reference is valid until the next is added.
  OptionSpec& option(std::string names, OptionTarget target, std::string text);

  /// Adds an option whose text `parse` must accept; `target` gets the value.
  template <class T, class Parse>
  OptionSpec& parsed(std::string names, T& target, Parse parse, std::string rule,
                     std::string text) {
    const auto take = [&target, parse](const std::string& value) {
      auto result = parse(value);
      if (result) target = *std::move(result);
      return result.has_value();
    };
    OptionSpec& added = option(std::move(names), TakeText(take), std::move(text));
    added.rule = std::move(rule);
    return added;
  }

  /// As parsed(), for an option that accepts one of `words`, which `parse` must accept too. Another
  /// word is an error that lists them and names the nearest.
  template <class T, class Parse>
  void choice(std::string names, T& target, Parse parse, std::vector<std::string> words,
              std::string text) {
    parsed(std::move(names), target, parse, "", std::move(text)).words = std::move(words);
  }

  /// As choice(), for an option that keeps the word itself.
  void word(std::string names, std::string& target, std::vector<std::string> words,
            std::string text);

  OptionSpec& at(const std::string& option_name);
  /// "echo" of "topic echo".
  std::string last_word() const { return name.substr(name.find_last_of(' ') + 1); }
  /// Adds --help and --version, here and to all inner commands.
  void complete();
};

}  // namespace halyard::tool
