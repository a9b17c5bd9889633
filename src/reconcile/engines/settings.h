// SPDX-License-Identifier: Apache-2.0
// The numbers of an engine's table, and what a user's JSON replaces of them.
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
  /// Errors: malformed (no JSON object), invalid_argument (a name that the table lacks, no number,
  /// no text). Texts are taken where `texts` names them.
  static Result<Settings> read(std::string_view engine, std::span<const Setting> table,
                               std::string_view json, std::span<const std::string_view> texts = {});
  /// Another number of the table, where the user's JSON does not replace it.
  void set_default(std::string_view name, std::uint64_t value) {
    if (!replaced_.contains(std::string(name))) numbers_[std::string(name)] = value;
  }
  std::uint64_t number(std::string_view name) const { return numbers_.at(std::string(name)); }
  /// Empty where it was not set.
  std::string text(std::string_view name) const;
  /// "table", or "settings" where the number was replaced: what reports say.
  std::string source(std::string_view name) const;

 private:
  std::map<std::string, std::uint64_t> numbers_;
  std::map<std::string, std::string> replaced_;
};

}  // namespace halyard
