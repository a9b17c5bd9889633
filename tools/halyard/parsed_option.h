// SPDX-License-Identifier: Apache-2.0
// Options whose text a function of values.h takes.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <utility>

namespace halyard::tool {

/// Adds an option whose text `parse` must take; `target` gets the value. The rule is what the error
/// says.
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

}  // namespace halyard::tool
