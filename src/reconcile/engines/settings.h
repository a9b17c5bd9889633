// SPDX-License-Identifier: Apache-2.0
// The numbers of an engine's table, and the user's JSON that replaces some of them.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "halyard/result.h"

namespace halyard {

struct Setting {
  std::string_view name;
  std::uint64_t value;
};

class Settings {
 public:
  /// Errors: malformed (not a JSON object), invalid_argument (the table lacks a name; a value is
  /// not a number, or not a text). `texts` names the settings that are texts.
  static Result<Settings> read(std::string_view engine, std::span<const Setting> table,
                               std::string_view json, std::span<const std::string_view> texts = {});
  /// Changes a number of the table, unless the user's JSON replaces it.
  void set_default(std::string_view name, std::uint64_t value) {
    if (!replaced_.contains(std::string(name))) numbers_[std::string(name)] = value;
  }
  std::uint64_t number(std::string_view name) const { return numbers_.at(std::string(name)); }
  /// Empty if the text was not set.
  std::string text(std::string_view name) const;
  /// "table", or "settings" if the user replaced the value: the source that reports name.
  std::string source(std::string_view name) const;

 private:
  std::map<std::string, std::uint64_t> numbers_;
  std::map<std::string, std::string> replaced_;
};

}  // namespace halyard
