// SPDX-License-Identifier: Apache-2.0
// Groups of parties that agree, and the copies between their buffers.
#include "halyard/buffer_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "reconcile/agreed.h"

namespace halyard {
namespace {

using nlohmann::json;
using namespace test;  // NOLINT: its helpers are what tests are written in

Result<BufferPlan> plan_of(const std::string& parties, Conflict* conflict = nullptr) {
  return plan_buffers(parties_of(parties), {}, conflict);
}

constexpr const char* camera_and_gpu = R"([
  {"name": "app", "keys": {"i.w": 1920, "i.h": 1080}, "alternatives": [{"tag": "nv12"}]},
  {"name": "camera", "keys": {"i.pitch_exact": 1920, "g.camp": 4}},
  {"name": "dla", "keys": {"i.pitch_align": 64}},
  {"name": "gpu", "keys": {"i.pitch_align": 256}}])";

TEST(Plan, has_one_buffer_where_all_agree) {
  const BufferPlan plan = value_of(plan_of(R"([
    {"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 3, 8, 8]}},
    {"name": "npu", "keys": {"t.row_align": 64}}])"));
  ASSERT_EQ(plan.groups.size(), 1U);
  EXPECT_EQ(plan.groups[0].parties, (std::vector<std::string>{"app", "npu"}));
  EXPECT_TRUE(plan.copies.empty());
}

TEST(Plan, copies_from_the_camera_for_who_cannot_take_its_rows) {
  const BufferPlan plan = value_of(plan_of(camera_and_gpu));
  ASSERT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.groups[0].parties, (std::vector<std::string>{"app", "dla", "gpu"}));
  EXPECT_EQ(plan.groups[1].parties, (std::vector<std::string>{"camera"}));
  EXPECT_EQ(plan.groups[0].buffer.planes()[0].stride_bytes, 2048U);
  EXPECT_EQ(plan.groups[1].buffer.planes()[0].stride_bytes, 1920U);
  ASSERT_EQ(plan.copies.size(), 1U);
  EXPECT_EQ(plan.copies[0].from, 1U);
  EXPECT_EQ(plan.copies[0].to, 0U);
  EXPECT_EQ(plan.copies[0].bytes, 2048U * 1080 * 3 / 2);
  EXPECT_NE(plan.to_text().find("1920 mod 256 = 128"), std::string::npos) << plan.to_text();
  const json as_json = json::parse(plan.to_json());
  EXPECT_EQ(as_json["groups"][1]["parties"], json({"camera"}));
  EXPECT_EQ(as_json["copies"][0]["conflicts"][0]["key"], "i.pitch_exact[0]");
}

TEST(Plan, copies_for_an_engine_that_keeps_one_address) {
  const BufferPlan plan = value_of(plan_of(R"([
    {"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 3, 8, 8]}},
    {"name": "camera", "keys": {"g.camp": 4, "g.perm": "read_write"}},
    {"name": "npu", "keys": {"g.addr_pinned": true}}])"));
  EXPECT_EQ(plan.groups.size(), 2U);
  EXPECT_EQ(plan.copies.size(), 1U);
  EXPECT_EQ(plan.groups[plan.copies[0].from].parties, (std::vector<std::string>{"camera"}));
  EXPECT_EQ(plan.groups[plan.copies[0].to].parties, (std::vector<std::string>{"app", "npu"}));
}

TEST(Plan, splits_heaps_that_three_do_not_share) {
  const BufferPlan plan = value_of(plan_of(R"([
    {"name": "a", "keys": {"r.size": 100, "g.heaps": ["heap", "memfd"]}},
    {"name": "b", "keys": {"g.heaps": ["memfd", "udmabuf"]}},
    {"name": "c", "keys": {"g.heaps": ["heap", "udmabuf"]}}])"));
  EXPECT_EQ(plan.groups.size(), 2U);
}

TEST(Plan, does_not_depend_on_the_order_of_parties) {
  auto parties = parties_of(camera_and_gpu);
  const std::string first = value_of(plan_buffers(parties)).to_json();
  std::mt19937 random(4);
  for (int round = 0; round < 20; ++round) {
    std::ranges::shuffle(parties, random);
    EXPECT_EQ(value_of(plan_buffers(parties)).to_json(), first);
  }
}

TEST(Plan, mends_no_content_that_contradicts) {
  Conflict conflict;
  const std::string a = R"([{"name": "a", "keys": {"t.dtype": "u8", "t.shape": [1, 3, 8, 8]}},
    {"name": "b", "keys": )";
  EXPECT_FAILS(plan_of(a + R"({"t.dtype": "f16"}}])", &conflict), Errc::unsupported, "t.dtype");
  ASSERT_FALSE(conflict.items.empty());
  EXPECT_FAILS(plan_of(a + R"({"t.row_exact": 100, "t.row_align": 64}}])"), Errc::unsupported);
  EXPECT_FAILS(plan_buffers(std::span<const AttributeList>()), Errc::invalid_argument);
}

TEST(Plan, of_many_parties_is_found_too) {
  std::string parties = R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 1, 8, 100]}})";
  for (int k = 0; k < 40; ++k)
    parties += R"(, {"name": "p)" + std::to_string(k) + R"(", "keys": {"t.row_exact": )" +
               std::to_string(k % 3 == 0 ? 128 : 256) + "}}";
  const BufferPlan plan = value_of(plan_of(parties + "]"));
  EXPECT_EQ(plan.groups.size(), 2U);
  std::size_t count = 0;
  for (const PlanGroup& each : plan.groups)
    count += each.parties.size();
  EXPECT_EQ(count, 41U);
}

/// The fewest groups of any split, found by trying all.
std::size_t fewest_groups(const std::vector<AttributeList>& lists, const AttributeList& content) {
  std::vector<std::vector<AttributeList>> groups;
  std::size_t best = lists.size();
  const std::function<void(std::size_t)> place = [&](std::size_t k) {
    if (groups.size() >= best) return;
    if (k == lists.size()) {
      best = groups.size();
      return;
    }
    for (std::size_t g = 0; g <= groups.size(); ++g) {
      const bool is_new = g == groups.size();
      if (is_new) groups.push_back({content});
      groups[g].push_back(lists[k]);
      if (reconcile(groups[g])) place(k + 1);
      groups[g].pop_back();
      if (is_new) {
        groups.pop_back();
        break;
      }
    }
  };
  place(0);
  return best;
}

TEST(Plan, has_the_fewest_groups_that_there_can_be) {
  std::mt19937 random(9);
  std::size_t split = 0;
  for (int round = 0; round < 300; ++round) {
    AttributeList content("content");
    ASSERT_TRUE(content.set_dtype(DType::u8));
    ASSERT_TRUE(content.set_shape({1, 1, 4, 100}));
    std::vector<AttributeList> lists;
    for (int k = 0; k < 5; ++k) {
      AttributeList list("p" + std::to_string(k));
      if (random() % 2 == 0) must(list.set(Key::row_exact, 128 + 64 * (random() % 3)));
      if (random() % 2 == 0) must(list.set(Key::row_align, std::uint64_t{64} << random() % 3));
      if (random() % 2 == 0) must(list.set(Key::heaps, 1 + random() % 7));
      lists.push_back(list);
    }
    const std::size_t fewest = fewest_groups(lists, content);
    auto all = lists;
    all.push_back(content);
    const auto plan = plan_buffers(all);
    if (!plan) continue;  // somebody contradicts himself
    EXPECT_EQ(plan->groups.size(), fewest) << plan->to_text();
    split += plan->groups.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(split, 50U);
}

}  // namespace
}  // namespace halyard
