// SPDX-License-Identifier: Apache-2.0
// The first members of all JSON of the program. docs/json.md describes the rest.
#pragma once

#include <nlohmann/json.hpp>

namespace halyard::tool {

/// The number in docs/json.schema.json. Adding a key keeps the number; renaming or removing one
/// increments it.
inline constexpr int json_schema = 1;

/// Returns the members of `content` after the schema's number.
inline nlohmann::ordered_json json_document(const nlohmann::ordered_json& content = {}) {
  nlohmann::ordered_json out{{"schema", json_schema}};
  if (content.is_object()) out.update(content);
  return out;
}

}  // namespace halyard::tool
