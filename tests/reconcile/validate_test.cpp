// SPDX-License-Identifier: Apache-2.0
// Parties that come when the buffer is there already.
#include <gtest/gtest.h>

#include <random>

#include "halyard/attribute_blob.h"
#include "reconcile/agreed.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

Status check(const Reconciled& result, Heap heap, const std::string& keys,
             Conflict* conflict = nullptr) {
  const auto late = value_of(
      parties_from_json(R"({"parties": [{"name": "late", "pid": 77, "keys": )" + keys + "}]}"));
  const AttributeList* const list = &late[0].list;
  return validate(result, heap, std::span(&list, 1), conflict);
}

/// Rows of 1984 bytes: 61 x 32 = 31 x 64.
Reconciled rows_of_1984() {
  return agreed(
      R"([{"name": "app", "keys": {"t.dtype": "u8", "t.shape": [1, 3, 480, 1930],
    "g.kind": ["tensor"], "g.cpu": "read_write"}}, {"name": "gpu", "keys": {"t.row_align": 64}}])");
}

TEST(Validate, takes_who_asks_for_no_more) {
  const Reconciled result = rows_of_1984();
  ASSERT_EQ(result.layout().stride_bytes[2], 1984);
  for (const char* const keys :
       {R"({})", R"({"t.dtype": "u8"})", R"({"g.kind": ["tensor"]})", R"({"t.row_align": 32})",
        R"({"t.row_align": 64, "t.row_min": 1984})", R"({"t.shape": [1, 3, 480, 1930]})",
        R"({"g.size_max": 100000000})", R"({"g.heaps": ["memfd", "heap"]})", R"({"g.cpu": "read"})",
        R"({"t.px_integral": true})", R"({"t.row_exact": 1984})", R"({"g.base_align": 32})"}) {
    const Status status = check(result, Heap::memfd, keys);
    EXPECT_TRUE(status) << keys << status.error().message();
  }
}

TEST(Validate, names_the_key_and_the_remainder) {
  Conflict conflict;
  const Error error =
      check(rows_of_1984(), Heap::memfd, R"({"t.row_align": 256})", &conflict).error();
  EXPECT_EQ(error.code, Errc::unsupported);
  EXPECT_NE(error.message().find("1984 mod 256 = 192"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("late"), std::string::npos);
  EXPECT_NE(error.message().find("(buffer)"), std::string::npos);
  ASSERT_EQ(conflict.items.size(), 1U);
  EXPECT_EQ(conflict.items[0].parties.size(), 2U);
}

TEST(Validate, refuses_what_the_buffer_is_not) {
  const Reconciled result = rows_of_1984();
  const std::pair<const char*, const char*> cases[] = {
      {R"({"t.dtype": "i8"})", "t.dtype"},
      {R"({"t.shape": [1, 3, 480, 1931]})", "t.shape"},
      {R"({"t.row_max": 1900})", "t.row"},
      {R"({"t.row_min": 2000})", "t.row"},
      {R"({"g.heaps": ["dmabuf.cma"]})", "g.heaps"},
      {R"({"g.contig": true})", "g.contig"},
      {R"({"g.size_max": 1000})", "g.size_max"},
      {R"({"g.size_min": 100000000})", "g.size_align"},
      {R"({"g.camp": 9})", "g.c"},
      {R"({"t.surf_align": 65536})", "t.surf_align"},
      {R"({"t.batch_align": 1048576})", "t.batch_align"},
      {R"({"g.tail_slack": 100000})", "g.size_align"},
      {R"({"g.base_align": 65536})", "g.base_align"},
      {R"({"g.protected": true})", "g.protected"},
      {R"({"g.domains": ["NoCpu"]})", "g.domains"}};
  for (const auto& [keys, key] : cases) {
    EXPECT_FAILS(check(result, Heap::memfd, keys), Errc::unsupported, key) << keys;
  }
}

TEST(Validate, refuses_another_arrangement_and_takes_the_same) {
  const auto late = [](const char* tag) {
    AttributeList list("late");
    EXPECT_TRUE(list.accept(value_of(layout_tag_from_string(tag))));
    const AttributeList* const one = &list;
    return validate(rows_of_1984(), Heap::heap, std::span(&one, 1));
  };
  EXPECT_TRUE(late("NCHW"));
  EXPECT_FALSE(late("NHWC"));
  EXPECT_FALSE(late("NCxHWx32"));
}

TEST(Validate, lets_no_cpu_in_where_nobody_maps) {
  const Reconciled result = agreed(R"([{"name": "npu", "keys": {"t.dtype": "u8",
    "t.shape": [1, 1, 8, 8], "g.policy": "unmapped"}}])");
  const Status status = check(result, Heap::memfd, R"({"g.cpu": "read"})");
  EXPECT_FAILS(status, "unmapped");
  EXPECT_TRUE(check(result, Heap::memfd, "{}"));
}

TEST(Validate, holds_writers_to_what_padding_must_be) {
  const char* const zero = R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [1, 1, 8, 8], "g.pad_fill": "zero"}}])";
  EXPECT_FALSE(check(agreed(zero), Heap::heap, R"({"g.pad_clobber": true})"));
  EXPECT_FALSE(check(agreed(zero), Heap::heap, R"({"g.pad_fill": {"value": 9}})"));
  EXPECT_TRUE(check(agreed(zero), Heap::heap, R"({"g.pad_fill": "not_nan"})"));
}

// A proxy said beforehand what the late party would need.
TEST(Validate, takes_whom_a_proxy_stood_for) {
  const Reconciled result = agreed(R"([{"name": "app", "keys": {"t.dtype": "u8",
    "t.shape": [1, 3, 480, 1930], "g.cpu": "read"}},
    {"name": "viewer", "engine": "peer.proxy", "keys": {"t.row_align": 256, "g.camp": 2,
      "g.base_align": 512, "g.export": true}}])");
  EXPECT_EQ(result.layout().stride_bytes[2], 2048);
  EXPECT_TRUE(check(result, Heap::memfd, R"({"t.row_align": 128, "g.base_align": 256})"));
  EXPECT_FALSE(check(result, Heap::memfd, R"({"t.row_align": 4096})"));
}

TEST(Attach, adds_the_partys_view_and_changes_no_byte) {
  const Reconciled result = rows_of_1984();
  const auto late = value_of(parties_from_json(R"({"parties": [{"name": "late", "keys":
    {"g.cpu": "read", "t.row_align": 32}}]})"));
  const AttributeList* const list = &late[0].list;
  const Reconciled more = value_of(attach_parties(result, Heap::memfd, std::span(&list, 1)));
  EXPECT_EQ(more.layout().stride_bytes, result.layout().stride_bytes);
  EXPECT_EQ(more.allocated_bytes(), result.allocated_bytes());
  ASSERT_EQ(more.views().size(), 3U);
  EXPECT_TRUE(decode_result(value_of(encode_result(more, "late"))));
  EXPECT_FAILS(attach_parties(more, Heap::memfd, std::span(&list, 1)), Errc::exists);
}

// Whoever took part may come again: a buffer serves its own parties.
TEST(Validate, takes_the_parties_that_made_the_buffer) {
  std::mt19937 random(3);
  const auto pick = [&](std::initializer_list<int> of) {
    return std::to_string(of.begin()[random() % of.size()]);
  };
  for (int round = 0; round < 500; ++round) {
    std::string parties;
    for (int k = 0; k < 3; ++k)
      parties += std::string(k == 0 ? "" : ",") + R"({"name": "p)" + std::to_string(k) +
                 R"(", "keys": {"t.dtype": "u8", "t.shape": [2, 3, 48, )" + "77" +
                 R"(], "t.row_align": )" + pick({1, 16, 32, 96}) + R"(, "t.surf_align": )" +
                 pick({1, 64, 4096}) + R"(, "t.rows_mult": )" + pick({1, 2, 16}) +
                 R"(, "g.tail_slack": )" + pick({0, 64}) + R"(, "g.base_align": )" +
                 pick({1, 64, 512}) + "}}";
    const auto read = value_of(parties_from_json("{\"parties\": [" + parties + "]}"));
    const Reconciled result = value_of(reconcile_engines(read));
    for (const EngineParty& each : read) {
      const AttributeList* const list = &each.list;
      const Status status = validate(result, Heap::memfd, std::span(&list, 1));
      ASSERT_TRUE(status) << parties << status.error().message();
    }
  }
}

}  // namespace
}  // namespace halyard
