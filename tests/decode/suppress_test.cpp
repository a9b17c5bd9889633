// SPDX-License-Identifier: Apache-2.0
// Suppression with vectors, neighbourhoods and queues is the plain definition, bit for bit.
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "decode/nms.h"
#include "decode/scenes.h"
#include "decode/tensors.h"

namespace halyard::decode {
namespace {

using testing_decode::boxes_of_all_sizes;
using testing_decode::crowded_boxes;
using testing_decode::random_boxes;

// Candidates in order, as suppress() takes them.
void prepare(const std::vector<Detection>& candidates, Workspace& w) {
  order(candidates, {}, w);
  w.boxes.resize(w.keys.size());
  w.scores.resize(w.keys.size());
  for (std::size_t i = 0; i < w.keys.size(); ++i) {
    const Detection& d = candidates[index_of(w.keys[i])];
    w.boxes.set(i, flat_box(d.box, d.label));
    w.scores[i] = d.score;
  }
}

using Outcome = std::pair<std::vector<std::uint32_t>, std::vector<float>>;

template <class Suppress>
Outcome outcome_of(Suppress suppress, const Rule& rule, Workspace& w) {
  const auto scores = w.scores;
  suppress(rule, w);
  Outcome out{w.kept, {}};
  for (const std::uint32_t i : w.kept)
    out.second.push_back(w.scores[i]);
  w.scores = scores;
  return out;
}

class Suppressed : public testing::TestWithParam<std::tuple<Suppression, Overlap>> {
 protected:
  Rule rule_of(float threshold, std::size_t most) const {
    const auto [suppression, overlap] = GetParam();
    return {suppression, overlap, threshold, 0.5F, 0.05F, most};
  }
  void expect_plain(const std::vector<Detection>& candidates, std::initializer_list<float> limits) {
    Workspace w;  // the same for all, so that what calls leave behind is met
    for (const float threshold : limits) {
      for (const std::size_t most : {std::size_t{1}, std::size_t{20}, std::size_t{1000000}}) {
        prepare(candidates, w);
        const Rule rule = rule_of(threshold, most);
        const Outcome expected = outcome_of(suppress_plain, rule, w);
        testing_decode::for_each_target([&] {
          ASSERT_EQ(outcome_of(suppress, rule, w), expected) << threshold << " " << most;
        });
      }
    }
  }
};

TEST_P(Suppressed, equals_the_definition_on_few_boxes) {
  for (unsigned round = 0; round < 12; ++round)
    expect_plain(random_boxes(1 + round * 57, round), {0, 0.25F, 0.5F, 0.9F, 1});
}

TEST_P(Suppressed, equals_the_definition_on_many_boxes_of_all_sizes) {
  expect_plain(boxes_of_all_sizes(1600, 3, 400), {0, 0.05F, 0.3F, 0.7F});
  expect_plain(boxes_of_all_sizes(1600, 4, 20, 40), {0.45F});
}

TEST_P(Suppressed, equals_the_definition_on_crowds) {
  expect_plain(crowded_boxes(1600, 5, 400), {0.1F, 0.45F, 0.8F, 0.99F});
}

TEST_P(Suppressed, equals_the_definition_on_extreme_boxes) {
  std::mt19937 random(8);
  std::vector<Detection> boxes;
  for (int i = 0; i < 1500; ++i) {  // extents of 2^-140 .. 2^120
    const float w = std::ldexp(1 + testing_decode::unit(random), -140 + i % 260);
    const float h = std::ldexp(1 + testing_decode::unit(random), 120 - i % 251);
    const float x = i % 3 == 0 ? 0 : w * testing_decode::unit(random);
    boxes.push_back({{x, 0, x + w, h}, testing_decode::unit(random), i % 2, i});
    if (i % 5 == 0) boxes.back().box.y2 = -h;
    if (i % 7 == 0) boxes.back().box.x1 = std::numeric_limits<float>::quiet_NaN();
    if (i % 11 == 0) boxes.back().box.x2 = std::numeric_limits<float>::infinity();
  }
  expect_plain(boxes, {0, 0.3F});
}

INSTANTIATE_TEST_SUITE_P(
    All, Suppressed,
    testing::Combine(testing::Values(Suppression::greedy, Suppression::fast,
                                     Suppression::soft_linear, Suppression::soft_gaussian),
                     testing::Values(Overlap::iou, Overlap::diou, Overlap::ios)));

TEST(SuppressedLarge, boxes_that_nobody_overlaps_all_survive) {
  // So many that neighbourhoods are in use, at places where floats are coarse.
  std::vector<Detection> boxes;
  for (int i = 0; i < 30000; ++i) {
    const auto x = static_cast<float>(i % 200 * 8 - 800);
    const auto y = static_cast<float>(i / 200 * 8) + 100000;
    boxes.push_back({{x, y, x + 7, y + 7}, static_cast<float>(i * 7919 % 30011), 0, i});
  }
  EXPECT_EQ(non_maximum_suppression(boxes)->size(), boxes.size());
  // Each once more, a little worse and a little aside.
  auto twice = boxes;
  for (auto d : boxes) {
    d.box = {d.box.x1 + 1, d.box.y1, d.box.x2 + 1, d.box.y2};
    d.score -= 0.5F;
    twice.push_back(d);
  }
  EXPECT_EQ(*non_maximum_suppression(twice), *non_maximum_suppression(boxes));
}

}  // namespace
}  // namespace halyard::decode
