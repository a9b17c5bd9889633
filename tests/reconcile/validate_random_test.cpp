// SPDX-License-Identifier: Apache-2.0
// Thousands of groups: a buffer serves those that it was made for, and those that a proxy stood
// for.
#include <gtest/gtest.h>

#include <random>

#include "halyard/attribute_blob.h"
#include "reconcile/agreed.h"

namespace halyard {
namespace {

using namespace test;  // NOLINT: its helpers are what tests are written in

Status check(const Reconciled& result, std::span<const AttributeList> lists) {
  std::vector<const AttributeList*> pointers;
  for (const AttributeList& each : lists)
    pointers.push_back(&each);
  return validate(result, result.heap(), pointers);
}

/// Numbers that some parties ask for, each possible for itself.
AttributeList random_list(std::mt19937& random, const std::string& party) {
  AttributeList list(party);
  const auto maybe = [&](Key key, std::initializer_list<std::uint64_t> from) {
    if (random() % 3 == 0) must(list.set(key, from.begin()[random() % from.size()]));
  };
  maybe(Key::row_align, {3, 4, 16, 64, 100, 256});
  maybe(Key::surf_align, {4096, 100});
  maybe(Key::batch_align, {64, 4096});
  maybe(Key::row_min, {200, 700});
  maybe(Key::row_max, {1300, 4000});
  maybe(Key::rows_mult, {2, 16});
  maybe(Key::px_integral, {0, 1});
  maybe(Key::offset_align, {16, 256});
  maybe(Key::heaps, {3, 6, 7, 255});
  maybe(Key::camp, {1, 3});
  maybe(Key::slack, {1, 2});
  maybe(Key::shared_slack, {1, 2});
  maybe(Key::count_min, {1, 4});
  maybe(Key::cpu, {0, 1, 3});
  maybe(Key::perm, {0, 1});
  maybe(Key::attach, {1, 2, 4});
  maybe(Key::domains, {1, 2, 3, 15});
  maybe(Key::policy, {0, 1, 2, 3});
  maybe(Key::pad_fill, {0, 1, 2});
  maybe(Key::base_align, {512, 24});
  maybe(Key::size_min, {9000, 100000});
  maybe(Key::size_align, {512, 3});
  maybe(Key::tail_slack, {64});
  maybe(Key::exported, {0, 1});
  if (random() % 3 == 0) {
    AttributeList own("own");
    EXPECT_TRUE(own.set(Key::cpad, 4));
    EXPECT_TRUE(list.accept(LayoutTag::tensor(AxisOrder::nhwc), 1, own));
    EXPECT_TRUE(
        list.accept(LayoutTag::tensor(AxisOrder::nchw), static_cast<std::uint32_t>(random() % 3)));
  }
  return list;
}

AttributeList random_app(std::mt19937& random) {
  AttributeList app("app");
  if (random() % 3 == 0) {
    EXPECT_TRUE(app.set_image(150 + random() % 9, 20));
    EXPECT_TRUE(app.accept(
        LayoutTag::image(random() % 2 == 0 ? PixelFormat::nv12 : PixelFormat::planar_rgb)));
  } else {
    EXPECT_TRUE(app.set_shape({1 + random() % 2, 3, 20, 160}));
    EXPECT_TRUE(app.set_dtype(random() % 2 == 0 ? DType::u8 : DType::f16));
  }
  return app;
}

TEST(Validate, parties_that_took_part_are_served) {
  std::mt19937 random(16);
  int results = 0;
  for (int i = 0; i < 5000; ++i) {
    std::vector<AttributeList> group{random_app(random)};
    for (int k = 0; k < 1 + static_cast<int>(random() % 3); ++k)
      group.push_back(random_list(random, "party" + std::to_string(k)));
    const auto result = reconcile(group);
    if (!result) continue;
    ++results;
    const auto status = check(*result, group);
    ASSERT_TRUE(status) << i << ": " << status.error().message() << "\n" << result->to_json();
    const auto sent = value_of(decode_result(*encode_result(*result, "app")));
    ASSERT_EQ(sent.digest(), result->digest());
    ASSERT_TRUE(check(sent, std::span(group).first(1)));
  }
  EXPECT_GT(results, 500);
}

TEST(Validate, whoever_asks_no_more_than_its_proxy_is_served) {
  std::mt19937 random(17);
  int results = 0;
  for (int i = 0; i < 5000; ++i) {
    AttributeList proxy = random_list(random, "proxy");
    proxy.set_engine("peer.proxy");
    const std::vector<AttributeList> group{random_app(random), random_list(random, "a"), proxy};
    const auto result = reconcile(group);
    if (!result) continue;
    ++results;
    AttributeList guest("guest");
    for (const Attribute& each : proxy.attributes())
      ASSERT_TRUE(guest.set(each.key, each.value, each.index, "guest.cpp:1"));
    for (const Alternative& each : proxy.alternatives()) {
      AttributeList own("own");
      for (const Attribute& one : each.attributes)
        ASSERT_TRUE(own.set(one.key, one.value, one.index, one.source));
      ASSERT_TRUE(guest.accept(each.tag, each.cost, own));
    }
    const auto status = check(*result, std::vector{guest});
    ASSERT_TRUE(status) << i << ": " << status.error().message() << "\n" << result->to_json();
  }
  EXPECT_GT(results, 500);
}

}  // namespace
}  // namespace halyard
