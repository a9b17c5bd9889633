// SPDX-License-Identifier: Apache-2.0
// Parties as JSON texts, what becomes of them, and an engine whose answers a test gives.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "halyard/buffer_engine.h"
#include "reconcile/agreed.h"

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

/// Whether a result has the outputs of a JSON object.
inline ::testing::AssertionResult gives(const json& result, const std::string& outputs) {
  if (!result.value("ok", false)) return ::testing::AssertionFailure() << result.dump(1);
  const json wanted = json::parse(outputs);
  for (const auto& [key, value] : wanted.items())
    if (result["outputs"].value(key, json()) != value)
      return ::testing::AssertionFailure()
             << key << " is " << result["outputs"].value(key, json()) << ", not " << value;
  return ::testing::AssertionSuccess();
}

/// What the first conflict says; members that are left out are not compared.
struct Disagreement {
  std::string key = {};
  std::set<std::string> parties = {};
  std::string computed = {};
  json nearest = {};
};

inline ::testing::AssertionResult disagree(const json& result, const Disagreement& wanted) {
  const json& found = conflict_at(result);
  const bool is_so = (wanted.key.empty() || found["key"] == wanted.key) &&
                     (wanted.parties.empty() || opponents(result) == wanted.parties) &&
                     (wanted.computed.empty() || found["computed"] == wanted.computed) &&
                     (wanted.nearest.is_null() || found["nearest"] == wanted.nearest);
  return (is_so ? ::testing::AssertionSuccess() : ::testing::AssertionFailure()) << found.dump(1);
}

/// An engine that is two functions, and counts its questions.
class Asked : public BufferEngine {
 public:
  using Refine = std::function<Status(const Reconciled&, AttributeList&)>;
  explicit Asked(Refine refine) : refine_(std::move(refine)) {}
  std::string_view name() const noexcept override { return "asked"; }
  Status fill(const BufferRequest&, AttributeList& list) const override {
    return pitch_align == 0 ? Status() : list.set(Key::pitch_align, pitch_align);
  }
  Status refine(const Reconciled& draft, AttributeList& list) const override {
    ++count;
    return refine_(draft, list);
  }
  std::uint64_t pitch_align = 0;
  mutable int count = 0;

 private:
  Refine refine_;
};

inline Status refuse(const Reconciled&, AttributeList&) {
  return make_error(Errc::unsupported, "the format is not offered");
}

inline Asked::Refine refuse_format(PixelFormat format) {
  return [format](const Reconciled& draft, AttributeList& list) {
    return draft.image_tag().format == format ? refuse(draft, list) : Status();
  };
}

inline Status answer(AttributeList& list, Key key, std::uint64_t value) {
  return list.set(key, {value, 0}, 0, "answer");
}

inline std::shared_ptr<Asked> asked(Asked::Refine refine) {
  return std::make_shared<Asked>(std::move(refine));
}

/// An image of 1926 pixels, grey or else NV12, in rows of 64 bytes.
inline std::vector<EngineParty> image_parties() {
  return parties_of(R"([{"name": "app", "keys": {"i.w": 1926, "i.h": 8},
    "alternatives": [{"tag": "grey"}, {"tag": "nv12", "cost": 1}]},
    {"name": "gpu", "keys": {"i.pitch_align": 64}}])");
}

inline std::vector<EngineParty> with(std::string name, std::shared_ptr<Asked> engine,
                                     std::optional<int> optional = {},
                                     std::vector<EngineParty> others = image_parties()) {
  AttributeList list(std::move(name));
  if (optional) list.set_optional(*optional);
  others.push_back({std::move(list), std::move(engine)});
  return others;
}

}  // namespace halyard::test
