// SPDX-License-Identifier: Apache-2.0
// Reports of conflicts, byte by byte: what people read when parties disagree.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "reconcile/agreed.h"
#include "test_paths.h"

namespace halyard {
namespace {

using nlohmann::json;
using test::value_of;

const std::filesystem::path folder = HALYARD_SOURCE_DIR "/tests/reconcile/golden";

std::string text_of(const std::filesystem::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> files() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

Conflict conflict_of(const std::vector<EngineParty>& parties) {
  Conflict conflict;
  EXPECT_FALSE(reconcile_engines(parties, {}, &conflict));
  return conflict;
}

class Golden : public ::testing::TestWithParam<std::filesystem::path> {
 protected:
  std::vector<EngineParty> parties_ = value_of(parties_from_json(text_of(GetParam())));
};
INSTANTIATE_TEST_SUITE_P(Reports, Golden, ::testing::ValuesIn(files()),
                         [](const auto& info) { return info.param.stem().string(); });

TEST_P(Golden, text_is_as_it_was_read) {
  std::filesystem::path expected = GetParam();
  expected.replace_extension(".txt");
  const std::string now = conflict_of(parties_).to_text() + "\n";
  if (now == text_of(expected)) return;
  const auto fresh = std::filesystem::path(HALYARD_BINARY_DIR) / "golden" / expected.filename();
  std::filesystem::create_directories(fresh.parent_path());
  std::ofstream(fresh, std::ios::binary) << now;
  FAIL() << "the report is another now; if it is the better one take " << fresh << "\n" << now;
}

TEST_P(Golden, report_does_not_depend_on_the_order_of_parties) {
  const std::string first = conflict_of(parties_).to_json();
  std::mt19937 random(1);
  for (int round = 0; round < 10; ++round) {
    std::ranges::shuffle(parties_, random);
    EXPECT_EQ(conflict_of(parties_).to_json(), first);
  }
}

TEST_P(Golden, json_has_every_field) {
  const json report = json::parse(conflict_of(parties_).to_json());
  EXPECT_EQ(report["ok"], false);
  ASSERT_FALSE(report["conflicts"].empty());
  for (const json& item : report["conflicts"]) {
    for (const char* const field : {"key", "rule", "tag", "computed", "hint"})
      EXPECT_TRUE(item[field].is_string()) << field << item.dump();
    EXPECT_TRUE(item["nearest"].is_array());
    EXPECT_FALSE(item["hint"].get<std::string>().empty()) << item.dump();
    EXPECT_FALSE(item["parties"].empty());
    for (const json& party : item["parties"])
      for (const char* const field : {"name", "key", "value", "origin"})
        EXPECT_TRUE(party[field].is_string()) << field << party.dump();
  }
}

TEST(GoldenFiles, are_twelve_and_more) {
  EXPECT_GE(files().size(), 12U);
}

}  // namespace
}  // namespace halyard
