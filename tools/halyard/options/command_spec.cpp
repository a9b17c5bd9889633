// SPDX-License-Identifier: Apache-2.0
#include "options/command_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

namespace halyard::tool {

OptionSpec& OptionSpec::positive() {
  return in(std::numeric_limits<double>::min(), std::numeric_limits<double>::max());
}

OptionSpec& OptionSpec::shown() {
  usual = std::visit(
      [](const auto& value) -> std::string {
        using Value = std::remove_pointer_t<std::remove_cvref_t<decltype(value)>>;
        if constexpr (std::is_same_v<Value, std::string>) return *value;
        if constexpr (std::is_floating_point_v<Value>) return fmt::format("{:g}", *value);
        if constexpr (std::is_integral_v<Value>) return fmt::format("{}", *value);
        return {};
      },
      target);
  return *this;
}

bool OptionSpec::is_list() const {
  return std::holds_alternative<std::vector<std::string>*>(target) ||
         std::holds_alternative<std::vector<double>*>(target);
}

bool OptionSpec::has_value() const {
  return !std::holds_alternative<bool*>(target) && !std::holds_alternative<std::monostate>(target);
}

std::vector<std::string> OptionSpec::each_name() const {
  const std::size_t comma = names.find(',');
  if (comma == std::string::npos) return {names};
  return {names.substr(0, comma), names.substr(comma + 1)};
}

OptionSpec& CommandSpec::option(std::string names, OptionTarget target, std::string text) {
  return options.emplace_back(OptionSpec{std::move(names), std::move(target), std::move(text)});
}

void CommandSpec::word(std::string names, std::string& target, std::vector<std::string> words,
                       std::string text) {
  const auto parse = [words](const std::string& value) -> std::optional<std::string> {
    if (std::find(words.begin(), words.end(), value) == words.end()) return std::nullopt;
    return value;
  };
  choice(std::move(names), target, parse, std::move(words), std::move(text));
  options.back().usual = target;
}

OptionSpec& CommandSpec::at(const std::string& option_name) {
  return *std::find_if(options.begin(), options.end(), [&](const OptionSpec& one) {
    return one.each_name().back() == option_name;
  });
}

void CommandSpec::complete() {
  options.insert(options.begin(), {"-h,--help", {}, "Print this help message and exit"});
  option("--version", {}, "Display program version information and exit");
  for (CommandSpec& inner : commands)
    inner.complete();
}

}  // namespace halyard::tool
