// SPDX-License-Identifier: Apache-2.0
// Selection: order, best k, suppression, cap.
#include "decode/nms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "decode/tensors.h"

namespace halyard::decode {
namespace {

const std::vector<Detection> pair{{{0, 0, 0.5F, 0.5F}, 0.9F, 0, 0},
                                  {{0.1F, 0.1F, 0.6F, 0.6F}, 0.8F, 1, 1}};

std::vector<Detection> random_boxes(std::size_t count, unsigned seed, int labels = 3) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  std::vector<Detection> out;
  for (std::size_t i = 0; i < count; ++i) {
    const float x = unit(random) * 100;
    const float y = unit(random) * 100;
    // Whole extents and few scores: exact ties of both IoU and score occur.
    const Box box{std::floor(x), std::floor(y), std::floor(x) + 1 + std::floor(30 * unit(random)),
                  std::floor(y) + 1 + std::floor(30 * unit(random))};
    out.push_back({box, std::floor(unit(random) * 20) / 20,
                   static_cast<std::int32_t>(random() % static_cast<unsigned>(labels)),
                   static_cast<std::int32_t>(i)});
  }
  return out;
}

TEST(Nms, overlapping_pair_of_two_classes_by_mode) {
  EXPECT_EQ(non_maximum_suppression(pair, 0.3F, Nms::class_agnostic, 0).size(), 1U);
  EXPECT_EQ(non_maximum_suppression(pair, 0.3F, Nms::class_aware, 0).size(), 2U);
  EXPECT_EQ(non_maximum_suppression(pair, 0.3F, Nms::none, 0).size(), 2U);
  EXPECT_EQ(non_maximum_suppression(pair, 0.5F, Nms::class_agnostic, 0).size(), 2U);
}

TEST(Nms, iou_of_exactly_the_threshold_does_not_suppress) {
  // IoU p / q by construction: boxes of height 1, widths in whole pixels.
  for (int q = 2; q <= 60; ++q) {
    for (int p = 1; p < q; ++p) {
      const auto width = static_cast<float>(q);
      const std::vector<Detection> boxes{{{0, 0, width, 1}, 0.9F, 0, 0},
                                         {{0, 0, static_cast<float>(p), 1}, 0.8F, 0, 1}};
      const float exact = static_cast<float>(p) / width;
      EXPECT_EQ(non_maximum_suppression(boxes, exact, Nms::class_aware, 0).size(), 2U) << p << q;
      EXPECT_EQ(non_maximum_suppression(boxes, exact - 1e-5F, Nms::class_aware, 0).size(), 1U);
    }
  }
}

TEST(Nms, threshold_one_keeps_duplicates_and_zero_removes_any_overlap) {
  const std::vector<Detection> twins{pair[0], pair[0]};
  EXPECT_EQ(non_maximum_suppression(twins, 1.0F, Nms::class_aware, 0).size(), 2U);
  const std::vector<Detection> barely{{{0, 0, 10, 10}, 0.9F, 0, 0},
                                      {{9.99F, 0, 20, 10}, 0.8F, 0, 1}};
  EXPECT_EQ(non_maximum_suppression(barely, 0, Nms::class_aware, 0).size(), 1U);
  const std::vector<Detection> touching{{{0, 0, 10, 10}, 0.9F, 0, 0},
                                        {{10, 0, 20, 10}, 0.8F, 0, 1}};
  EXPECT_EQ(non_maximum_suppression(touching, 0, Nms::class_aware, 0).size(), 2U);
}

TEST(Nms, cap_keeps_the_best_and_zero_means_all) {
  const std::vector<Detection> apart{
      {{0, 0, 1, 1}, 0.5F, 0, 0}, {{5, 5, 6, 6}, 0.9F, 0, 1}, {{9, 9, 10, 10}, 0.7F, 0, 2}};
  for (const Nms nms : {Nms::class_aware, Nms::class_agnostic, Nms::none}) {
    const auto one = non_maximum_suppression(apart, 0.5F, nms, 1);
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].anchor, 1);
    EXPECT_EQ(non_maximum_suppression(apart, 0.5F, nms, 0).size(), 3U);
  }
}

TEST(Nms, equal_scores_keep_their_order_and_negative_scores_are_not_lost) {
  const std::vector<Detection> same{{{0, 0, 1, 1}, -0.5F, 0, 7},
                                    {{5, 5, 6, 6}, -0.5F, 0, 3},
                                    {{8, 8, 9, 9}, -0.0F, 0, 5},
                                    {{11, 8, 12, 9}, 0.0F, 0, 4}};
  const auto kept = non_maximum_suppression(same, 0.5F, Nms::class_aware, 0);
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[0].anchor, 5);
  EXPECT_EQ(kept[1].anchor, 4);
  EXPECT_EQ(kept[2].anchor, 7);
  EXPECT_EQ(kept[3].anchor, 3);
}

TEST(Nms, nan_scores_go_and_nan_or_empty_boxes_suppress_nothing) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Detection> boxes{{{0, 0, 9, 9}, nan, 0, 0},        {{nan, 0, 9, 9}, 0.9F, 0, 1},
                                     {{3, 3, 3, 9}, 0.8F, 0, 2},       {{9, 9, 0, 0}, 0.7F, 0, 3},
                                     {{0, 0, 9, 9}, 0.6F, 0, 4},       {{3, 3, 3, 9}, 0.5F, 0, 5},
                                     {{0, 0, infinity, 9}, 0.4F, 0, 6}};
  const auto kept = non_maximum_suppression(boxes, 0.1F, Nms::class_aware, 0);
  ASSERT_EQ(kept.size(), 6U);
  for (std::size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(kept[i].anchor, static_cast<std::int32_t>(i + 1));
}

TEST(Nms, of_nothing_is_nothing) {
  EXPECT_TRUE(non_maximum_suppression({}, 0.5F, Nms::class_aware, 0).empty());
}

TEST(Nms, vectors_equal_the_plain_loops_bit_for_bit) {
  for (unsigned round = 0; round < 60; ++round) {
    const auto boxes = random_boxes(1 + round * 13, round);
    BoxColumns columns;
    for (const auto& d : boxes) {
      columns.x1.push_back(d.box.x1);
      columns.y1.push_back(d.box.y1);
      columns.x2.push_back(d.box.x2);
      columns.y2.push_back(d.box.y2);
      columns.area.push_back(d.box.area());
      columns.label.push_back(d.label);
    }
    testing_decode::for_each_target([&] {
      for (const float threshold : {0.0F, 0.25F, 0.45F, 0.5F, 0.9F, 1.0F}) {
        for (const std::size_t most : {std::size_t{1}, std::size_t{20}, std::size_t{100000}})
          ASSERT_EQ(suppress(columns, threshold, most), suppress_plain(columns, threshold, most));
      }
    });
  }
}

TEST(Select, top_k_keeps_the_best_scores_and_of_equal_ones_the_earlier) {
  const auto boxes = random_boxes(500, 99, 500);
  auto expected = boxes;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  for (const std::size_t k : {1, 7, 100, 499, 500, 501}) {
    const auto kept = select(boxes, {k, 1.0F, Nms::class_agnostic, 0});
    const auto count = std::min<std::size_t>(k, boxes.size());
    ASSERT_EQ(kept.size(), count);
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), expected.begin()));
  }
  EXPECT_EQ(select(boxes, {0, 1.0F, Nms::class_agnostic, 0}).size(), 500U);
  EXPECT_EQ(select(boxes, {3, 1.0F, Nms::none, 0}).size(), 500U);  // top k enters suppression only
}

TEST(Select, result_does_not_depend_on_which_labels_are_far_apart) {
  // Class-aware by comparing labels: no box is moved, so no precision is lost however large a
  // label.
  auto boxes = random_boxes(300, 5, 2);
  const auto small = select(boxes, {0, 0.4F, Nms::class_aware, 0});
  for (auto& d : boxes)
    d.label *= 2000000000;
  const auto large = select(boxes, {0, 0.4F, Nms::class_aware, 0});
  ASSERT_EQ(small.size(), large.size());
  for (std::size_t i = 0; i < small.size(); ++i)
    EXPECT_EQ(small[i].anchor, large[i].anchor);
}

}  // namespace
}  // namespace halyard::decode
