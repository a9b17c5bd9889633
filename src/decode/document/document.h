// SPDX-License-Identifier: Apache-2.0
// A parsed description document and checked access to its values; every refusal names the path.
// The tree is JSON's, whatever the text was. Nothing here knows what the keys mean.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "halyard/result.h"

namespace halyard::decode {

/// Empties a tree from its leaves on. The library's own destructor takes memory for lists and maps
/// that are not empty, and ends the process where there is none.
template <class Json>
void dismantle(Json& node) noexcept {
  if (!node.is_structured()) return;
  for (Json& child : node)
    dismantle(child);
  node.clear();
}

/// A tree that can be destroyed when there is no memory left. Of documents: not deeper than their
/// limit.
template <class Json>
class TreeOf {
 public:
  TreeOf() = default;
  TreeOf(Json root) noexcept : root_(std::move(root)) {}
  TreeOf(TreeOf&& other) noexcept : root_(std::move(other.root_)) {}
  TreeOf& operator=(TreeOf&& other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~TreeOf() { dismantle(root_); }

  Json& operator*() noexcept { return root_; }
  const Json& operator*() const noexcept { return root_; }
  Json* operator->() noexcept { return &root_; }
  const Json* operator->() const noexcept { return &root_; }

 private:
  Json root_;
};
using Tree = TreeOf<nlohmann::json>;

/// What was passed over. Keeps DocumentLimits::warnings of them and counts the rest.
class Warnings {
 public:
  void add(std::string text);
  /// The keys of an object that are not among `known`.
  void add_unknown(const class Node& object, std::initializer_list<std::string_view> known);
  std::vector<std::string> take() &&;

 private:
  std::vector<std::string> texts_;
  std::size_t more_ = 0;
};

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
  Result<std::int64_t> whole(std::int64_t minimum, std::int64_t maximum) const;

  std::string seen() const;                        ///< short, printable, one line
  Error wrong(std::string_view rule) const;        ///< invalid_argument: "path: value, rule"
  Error unsupported(std::string_view rule) const;  ///< unsupported, the same form

 private:
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace halyard::decode
