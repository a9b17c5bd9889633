// SPDX-License-Identifier: Apache-2.0
// The first members of all JSON of the program, and JSON as text. docs/json.md describes the rest.
// Only sources that make or read values include <nlohmann/json.hpp>: it takes a second to compile.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace halyard::tool {

using Json = nlohmann::ordered_json;

/// The number in docs/json.schema.json. Adding a key keeps the number; renaming or removing one
/// increments it.
inline constexpr int json_schema = 1;

/// The members of `content` after the schema's number.
Json json_document(const Json& content);
/// On one line, or indented by so many spaces. Bytes that are not UTF-8 are replaced.
std::string json_text(const Json& json, int indent = -1, bool is_ascii = false);
/// A text in quotation marks. Bytes that are not UTF-8 are replaced.
std::string json_quoted(const std::string& text);
/// A discarded value (is_discarded()) if the text is no JSON.
Json json_from(std::string_view text);

}  // namespace halyard::tool
