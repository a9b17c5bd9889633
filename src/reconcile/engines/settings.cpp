// SPDX-License-Identifier: Apache-2.0
#include "reconcile/engines/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/format_error.h"

namespace halyard {

Result<Settings> Settings::read(std::string_view engine, std::span<const Setting> table,
                                std::string_view text, std::span<const std::string_view> texts) {
  Settings out;
  for (const Setting& each : table)
    out.numbers_[std::string(each.name)] = each.value;
  if (text.empty()) return out;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded() || !json.is_object())
    return fail(Errc::malformed, "the settings of an engine are a JSON object", "{}: {}", engine,
                text);
  for (const auto& [name, value] : json.items()) {
    if (std::ranges::find(texts, name) != texts.end()) {
      if (!value.is_string())
        return fail(Errc::invalid_argument, "a setting of this name is a text", "{}: {} = {}",
                    engine, name, value.dump());
      out.replaced_[name] = value.get<std::string>();
      continue;
    }
    if (!out.numbers_.contains(name))
      return fail(Errc::invalid_argument, "the engine has no such setting", "{}: \"{}\"", engine,
                  name);
    if (!value.is_number_unsigned())
      return fail(Errc::invalid_argument, "a setting is a whole number, 0 or more", "{}: {} = {}",
                  engine, name, value.dump());
    out.numbers_[name] = value.get<std::uint64_t>();
    out.replaced_[name] = value.dump();
  }
  return out;
}

std::string Settings::text(std::string_view name) const {
  const auto found = replaced_.find(std::string(name));
  return found == replaced_.end() ? std::string() : found->second;
}

std::string Settings::source(std::string_view name) const {
  return replaced_.contains(std::string(name)) ? "settings" : "table";
}

}  // namespace halyard
