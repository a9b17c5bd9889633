// SPDX-License-Identifier: Apache-2.0
// A parsed description document and checked access to its values; every refusal names the path.
// The tree is JSON's, whatever the text was. Nothing here knows what the keys mean.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "halyard/result.h"

namespace halyard::decode {

/// Errors: malformed (message with the line and byte).
Result<nlohmann::json> parse_json(std::string_view text);
/// Errors: malformed (message with the line and column; also more than 2^17 nodes after aliases are
/// resolved, or nesting deeper than 64).
Result<nlohmann::json> parse_yaml(std::string_view text);

/// One value of the tree and where it stands. Refers to the tree, which must outlive it.
class Node {
 public:
  Node(const nlohmann::json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const nlohmann::json& value() const noexcept { return *value_; }
  const std::string& path() const noexcept { return path_; }

  /// The member, or nothing when it is absent or null. The value must be an object.
  std::optional<Node> member(const char* key) const;
  /// Element i; the value must be an array and i inside.
  Node element(std::size_t i) const;

  Status must_be_object() const;
  Status must_be_array() const;
  Result<bool> boolean() const;
  Result<std::string> text() const;
  Result<double> number() const;
  /// A whole number in [least, most].
  Result<std::int64_t> whole(std::int64_t least, std::int64_t most) const;

  Error wrong(std::string_view rule) const;        ///< invalid_argument: "path: value, rule"
  Error unsupported(std::string_view rule) const;  ///< unsupported, the same form

 private:
  std::string seen() const;
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace halyard::decode
