// SPDX-License-Identifier: Apache-2.0
// Options whose text is parsed by a function of values.h, and options that accept one of several
// words.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>
#include <vector>

#include "options/nearest.h"

namespace halyard::tool {

/// Adds an option whose text `parse` must accept; `target` gets the value. `rule` is the text of
/// the error.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& app, const std::string& name, T& target, Parse parse,
                        const std::string& rule, const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, parse, name, rule](const std::string& text) {
            auto value = parse(text);
            if (!value) throw CLI::ValidationError(name, "'" + text + "' is not " + rule);
            target = *std::move(value);
          },
          help)
      ->type_name("");
}

/// The words that an option accepts, for completion; empty: any text.
const std::vector<std::string>& words_of(const CLI::Option* option);
void set_words(const CLI::Option* option, std::vector<std::string> words);

/// Adds an option that accepts one of `words`, which `parse` must accept too. Another word is an
/// error that lists them and names the nearest.
template <class T, class Parse>
CLI::Option* add_choice(CLI::App& app, const std::string& name, T& target, Parse parse,
                        const std::vector<std::string>& words, const std::string& help) {
  CLI::Option* option = app.add_option_function<std::string>(
      name,
      [&target, parse, name, words](const std::string& text) {
        auto value = parse(text);
        if (!value)
          throw CLI::ValidationError(
              name, "'" + text + "' is not " + listed(words) + did_you_mean(text, words));
        target = *std::move(value);
      },
      help);
  option->type_name("");
  set_words(option, words);
  return option;
}

/// As add_choice(), for an option that keeps the word itself.
CLI::Option* add_word(CLI::App& app, const std::string& name, std::string& target,
                      const std::vector<std::string>& words, const std::string& help);

}  // namespace halyard::tool
