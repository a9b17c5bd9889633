// SPDX-License-Identifier: Apache-2.0
// The only source that writes and parses JSON: that code is long, and compiled where it is called.
#include "input/json_document.h"

#include <nlohmann/json.hpp>

namespace halyard::tool {

Json json_document(const Json& content) {
  Json out{{"schema", json_schema}};
  out.update(content);
  return out;
}

std::string json_text(const Json& json, int indent, bool is_ascii) {
  return json.dump(indent, ' ', is_ascii, Json::error_handler_t::replace);
}

std::string json_quoted(const std::string& text) {
  return json_text(Json(text));
}

Json json_from(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace halyard::tool
