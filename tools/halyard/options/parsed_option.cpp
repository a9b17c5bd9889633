// SPDX-License-Identifier: Apache-2.0
// The words are stored outside the parser: CLI11 can store them only in the help text.
#include "options/parsed_option.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace halyard::tool {
namespace {

std::map<const CLI::Option*, std::vector<std::string>>& all_words() {
  static std::map<const CLI::Option*, std::vector<std::string>> all;
  return all;
}

}  // namespace

const std::vector<std::string>& words_of(const CLI::Option* option) {
  static const std::vector<std::string> none;
  const auto found = all_words().find(option);
  return found == all_words().end() ? none : found->second;
}

void set_words(const CLI::Option* option, std::vector<std::string> words) {
  all_words()[option] = std::move(words);
}

CLI::Option* add_word(CLI::App& app, const std::string& name, std::string& target,
                      const std::vector<std::string>& words, const std::string& help) {
  const auto parse = [words](const std::string& text) -> std::optional<std::string> {
    if (std::find(words.begin(), words.end(), text) == words.end()) return std::nullopt;
    return text;
  };
  CLI::Option* option = add_choice(app, name, target, parse, words, help);
  if (!target.empty()) option->default_str(target);
  return option;
}

}  // namespace halyard::tool
