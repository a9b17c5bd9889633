// SPDX-License-Identifier: Apache-2.0
// What all JSON of the program begins with. docs/json.md says what follows.
#pragma once

#include <nlohmann/json.hpp>

namespace halyard::tool {

/// The number of docs/json.schema.json. Keys are added under one number; who renames or removes one
/// counts it up.
inline constexpr int json_schema = 1;

/// The members of `content`, behind the schema's number.
inline nlohmann::ordered_json json_document(const nlohmann::ordered_json& content = {}) {
  nlohmann::ordered_json out{{"schema", json_schema}};
  if (content.is_object()) out.update(content);
  return out;
}

}  // namespace halyard::tool
