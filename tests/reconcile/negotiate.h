// SPDX-License-Identifier: Apache-2.0
// Parties as JSON texts, and what becomes of them.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "halyard/buffer_engine.h"

namespace halyard::test {

using nlohmann::json;

/// The result for the parties of a list in JSON, as to_json() gives it, or the conflict.
inline json negotiate(const std::string& parties, const ReconcileOptions& options = {}) {
  const auto read = parties_from_json("{\"parties\": " + parties + "}");
  if (!read) return {{"error", read.error().message()}};
  Conflict conflict;
  const auto result = reconcile_engines(*read, options, &conflict);
  if (result) return json::parse(result->to_json());
  if (conflict.items.empty()) return {{"error", result.error().message()}};
  return json::parse(conflict.to_json());
}

/// An output of a result that there must be.
inline json output(const json& result, const std::string& key) {
  EXPECT_TRUE(result.value("ok", false)) << result.dump(1);
  return result.value("ok", false) ? result["outputs"].value(key, json()) : json();
}

/// The names of those who disagree in conflict `index`.
inline std::set<std::string> opponents(const json& result, std::size_t index = 0) {
  std::set<std::string> names;
  if (!result.contains("conflicts") || result["conflicts"].size() <= index) {
    ADD_FAILURE() << "no such conflict: " << result.dump(1);
    return names;
  }
  for (const json& each : result["conflicts"][index]["parties"])
    names.insert(each["name"].get<std::string>());
  return names;
}

inline json conflict_at(const json& result, std::size_t index = 0) {
  if (!result.contains("conflicts") || result["conflicts"].size() <= index) {
    ADD_FAILURE() << "no such conflict: " << result.dump(1);
    return {{"key", ""}, {"computed", ""}, {"nearest", json::array()}};
  }
  return result["conflicts"][index];
}

}  // namespace halyard::test
