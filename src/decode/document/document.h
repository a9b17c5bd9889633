// SPDX-License-Identifier: Apache-2.0
// A parsed description document and checked access to its values. Every error names the path of the
// value. JSON and YAML give the same tree of JSON values. This layer does not know what the keys
// mean.
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

/// Empties a tree, leaves first. The destructor of the JSON library allocates memory for lists and
/// maps that are not empty, and ends the process if there is none.
template <class Json>
void dismantle(Json& node) noexcept {
  if (!node.is_structured()) return;
  for (Json& child : node)
    dismantle(child);
  node.clear();
}

/// A tree that can be destroyed without free memory. The recursion is no deeper than
/// DocumentLimits::depth.
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

/// Warnings about parts that were ignored. Keeps DocumentLimits::warnings of them and counts the
/// rest.
class Warnings {
 public:
  void add(std::string text);
  /// Adds the keys of an object that are not among `known`.
  void add_unknown(const class Node& object, std::initializer_list<std::string_view> known);
  std::vector<std::string> take() &&;

 private:
  std::vector<std::string> texts_;
  std::size_t more_ = 0;
};

/// One value of the tree and its path. Refers to the tree, which must outlive it.
class Node {
 public:
  Node(const nlohmann::json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const nlohmann::json& value() const noexcept { return *value_; }
  const std::string& path() const noexcept { return path_; }

  /// The member; empty if it is absent or null. The value must be an object.
  std::optional<Node> member(const char* key) const;
  /// Element i. The value must be an array and i below its size.
  Node element(std::size_t i) const;

  Status must_be_object() const;
  Status must_be_array() const;
  Result<bool> boolean() const;
  Result<std::string> text() const;
  Result<double> number() const;
  /// A whole number in [minimum, maximum].
  Result<std::int64_t> whole(std::int64_t minimum, std::int64_t maximum) const;

  std::string seen() const;                        ///< short, printable, one line
  Error wrong(std::string_view rule) const;        ///< invalid_argument: "path: value, rule"
  Error unsupported(std::string_view rule) const;  ///< unsupported, the same form

 private:
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace halyard::decode
