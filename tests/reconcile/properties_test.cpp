// SPDX-License-Identifier: Apache-2.0
// Random groups of parties: the order, the grouping and repetition change nothing, and reports
// name the least that cannot be.
#include <algorithm>
#include <random>

#include "halyard/reconcile.h"
#include "reconcile/negotiate.h"
#include "support/sanitized.h"

namespace halyard {
namespace {

using test::must;

using Random = std::mt19937;

std::uint64_t pick(Random& random, std::initializer_list<std::uint64_t> from) {
  return from.begin()[random() % from.size()];
}

constexpr int groups = 10'000 / test::slowness;

/// A party that wants some things, each of them possible for itself.
AttributeList random_party(Random& random, int number) {
  AttributeList list("party" + std::to_string(number));
  const auto maybe = [&](Key key, std::initializer_list<std::uint64_t> from) {
    if (random() % 4 == 0) must(list.set(key, pick(random, from)));
  };
  maybe(Key::row_align, {1, 3, 4, 16, 40, 64, 100, 256});
  maybe(Key::surf_align, {1, 4096, 100});
  switch (random() % 4) {
    case 0:
      maybe(Key::row_min, {1, 200, 700});
      break;
    case 1:
      if (random() % 2 == 0) maybe(Key::row_max, {500, 1300, 4000});
      break;
    case 2:
      if (random() % 2 == 0) maybe(Key::row_exact, {640, 768, 1280, 2048});
      break;
    default:
      if (random() % 8 == 0)
        must(list.set(Key::shape_required, {pick(random, {1, 80}), pick(random, {80, 160, 200})}, 0,
                      "required"));
  }
  maybe(Key::rows_mult, {1, 2, 16});
  maybe(Key::heaps, {3, 6, 7, 12, 255});
  maybe(Key::camp, {0, 1, 3});
  if (random() % 3 == 0) maybe(Key::count_max, {2, 5, 100});
  maybe(Key::cpu, {0, 1, 3});
  maybe(Key::pad_fill, {0, 1, 2});
  if (random() % 4 == 0) maybe(Key::pad_clobber, {1});
  if (random() % 4 == 0) maybe(Key::dtype, {0, 8});
  maybe(Key::base_align, {64, 512, 24});
  maybe(Key::policy, {0, 1, 2, 3});
  if (random() % 3 == 0) {
    must(list.accept(LayoutTag::tensor(AxisOrder::nchw), static_cast<std::uint32_t>(random() % 3)));
    if (random() % 2 == 0) must(list.accept(LayoutTag::any(), 1));
    AttributeList own("own");
    must(own.set(Key::cpad, pick(random, {1, 4, 8})));
    must(list.accept(LayoutTag::tensor(AxisOrder::nhwc), static_cast<std::uint32_t>(random() % 3),
                     own));
  }
  return list;
}

std::vector<AttributeList> random_group(Random& random) {
  AttributeList app("app");
  must(app.set_shape({1, 3, 20, 160}));
  must(app.set_dtype(random() % 2 == 0 ? DType::u8 : DType::f16));
  std::vector<AttributeList> group{app};
  const int count = 1 + static_cast<int>(random() % 6);
  for (int k = 0; k < count; ++k)
    group.push_back(random_party(random, k));
  return group;
}

/// What comes out, result or report, and the digest.
std::string outcome(const std::vector<AttributeList>& group) {
  Conflict conflict;
  const auto result = reconcile(group, {}, &conflict);
  if (!result) return conflict.to_json() + conflict.to_text() + result.error().message();
  const auto digest = result->digest();
  return result->to_json() + std::string(digest.begin(), digest.end());
}

TEST(Properties, order_grouping_and_repetition_change_nothing) {
  Random random(20);
  int results = 0;
  for (int i = 0; i < groups; ++i) {
    auto group = random_group(random);
    const std::string first = outcome(group);
    results += first.starts_with("{\"ok\":true");
    group.push_back(group[random() % group.size()]);
    std::ranges::shuffle(group, random);
    ASSERT_EQ(outcome(group), first) << "group " << i;
    // The same said in two lists: what a party said first, and the rest.
    auto& one = group[random() % group.size()];
    AttributeList head(one.party()), tail(one.party());
    for (std::size_t k = 0; k < one.attributes().size(); ++k) {
      const Attribute& each = one.attributes()[k];
      ASSERT_TRUE((k % 2 == 0 ? head : tail).set(each.key, each.value, each.index, each.source));
    }
    for (const Alternative& each : one.alternatives()) {
      AttributeList own("own");
      for (const Attribute& a : each.attributes)
        ASSERT_TRUE(own.set(a.key, a.value, a.index, a.source));
      ASSERT_TRUE(head.accept(each.tag, each.cost, own));
    }
    const std::string party = one.party();
    std::erase_if(group, [&](const AttributeList& list) { return list.party() == party; });
    group.push_back(tail);
    group.push_back(head);
    ASSERT_EQ(outcome(group), first) << "group " << i << " in two lists";
  }
  EXPECT_GT(results, groups / 5) << "groups that do not only fail";
  EXPECT_LT(results, groups * 9 / 10) << "groups that do not only work";
}

/// Lists that say the statements of a conflict and nothing else, beside what is always needed.
std::vector<AttributeList> only(const std::vector<AttributeList>& group,
                                const std::vector<Statement>& said, std::size_t without) {
  std::vector<AttributeList> out;
  for (const AttributeList& list : group) {
    AttributeList kept(list.party());
    for (const Attribute& each : list.attributes())
      for (std::size_t k = 0; k < said.size(); ++k)
        if (k != without && said[k].party == list.party() &&
            said[k].key.substr(0, said[k].key.find('[')) == to_string(each.key) &&
            (key_info(each.key)->count == 1 || said[k].value == to_string(each.key, each.value)) &&
            !kept.get(each.key, each.index))
          must(kept.set(each.key, each.value, each.index, {}));
    out.push_back(kept);
  }
  return out;
}

TEST(Properties, conflicts_are_real_and_least) {
  Random random(21);
  int failing = 0;
  for (int i = 0; failing < groups && i < 10 * groups; ++i) {
    auto group = random_group(random);
    // One arrangement: statements then hold for it.
    for (AttributeList& list : group) {
      AttributeList plain(list.party());
      for (const Attribute& each : list.attributes())
        ASSERT_TRUE(plain.set(each.key, each.value, each.index, each.source));
      list = plain;
    }
    Conflict conflict;
    if (reconcile(group, {}, &conflict)) continue;
    ++failing;
    ASSERT_FALSE(conflict.items.empty());
    for (const ConflictItem& item : conflict.items) {
      const auto outcome_of = [&](std::size_t without) {
        auto lists = only(group, item.parties, without);
        // What a buffer cannot be without, where the conflict does not speak of it.
        AttributeList needed("needed");
        const auto is_said = [&](Key key) {
          return std::ranges::any_of(lists, [&](const auto& l) { return l.get(key).has_value(); });
        };
        if (!is_said(Key::dtype)) must(needed.set_dtype(DType::u8));
        if (!is_said(Key::shape) && !is_said(Key::shape_required)) must(needed.set_shape({1}));
        lists.push_back(needed);
        Conflict ignored;
        return reconcile(lists, {}, &ignored).has_value();
      };
      ASSERT_FALSE(outcome_of(item.parties.size())) << conflict.to_text();
      for (std::size_t k = 0; k < item.parties.size(); ++k)
        ASSERT_TRUE(outcome_of(k))
            << "without " << item.parties[k].party << " " << item.parties[k].key << " of\n"
            << conflict.to_text();
    }
  }
  EXPECT_EQ(failing, groups) << "groups, however many conflicts each has";
}

TEST(Properties, strides_are_the_smallest_that_are_legal) {
  Random random(22);
  int legal = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t width = 1 + random() % 300, min = random() % 400;
    const std::uint64_t max = 50 + random() % 1500;
    std::vector<std::uint64_t> aligns;
    std::vector<AttributeList> group{AttributeList("app")};
    ASSERT_TRUE(group[0].set_shape({width}) && group[0].set_dtype(DType::u8));
    ASSERT_TRUE(group[0].set(Key::row_min, min) && group[0].set(Key::row_max, max));
    for (std::size_t k = 0; k < 1 + random() % 4; ++k) {
      aligns.push_back(1 + random() % 60);
      group.emplace_back("p" + std::to_string(k));
      ASSERT_TRUE(group.back().set(Key::row_align, aligns.back()));
    }
    std::optional<std::uint64_t> expected;
    for (std::uint64_t stride = std::max(width, min); stride <= max && !expected; ++stride)
      if (std::ranges::all_of(aligns, [&](std::uint64_t a) { return stride % a == 0; }))
        expected = stride;
    const auto result = reconcile(group);
    ASSERT_EQ(result.has_value(), expected.has_value()) << i;
    if (result) {
      ++legal;
      ASSERT_EQ(result->size_bytes(), *expected) << i;
    }
  }
  EXPECT_GT(legal, 5000);
}

}  // namespace
}  // namespace halyard
