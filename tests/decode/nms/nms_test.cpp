// SPDX-License-Identifier: Apache-2.0
// Selection: order, best k, suppression, cap.
#include "decode/nms/nms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "decode/head/scenes.h"
#include "decode/nms/selector.h"

namespace halyard::decode {
namespace {

using test::anchors_of;
using test::random_boxes;

// The options that most tests vary, and the survivors.
std::vector<Detection> nms_of(const std::vector<Detection>& candidates, float threshold, Nms nms,
                              std::size_t maximum = 0, std::size_t top_k = 0) {
  const SelectionOptions options{
      .top_k = top_k, .nms = nms, .iou_threshold = threshold, .max_detections = maximum};
  const auto out = non_maximum_suppression(candidates, options);
  EXPECT_TRUE(out);
  return out ? *out : std::vector<Detection>();
}

const std::vector<Detection> pair{{{0, 0, 0.5F, 0.5F}, 0.9F, 0, 0},
                                  {{0.1F, 0.1F, 0.6F, 0.6F}, 0.8F, 1, 1}};

TEST(Nms, overlapping_pair_of_two_classes_by_mode) {
  EXPECT_EQ(nms_of(pair, 0.3F, Nms::class_agnostic).size(), 1U);
  EXPECT_EQ(nms_of(pair, 0.3F, Nms::class_aware).size(), 2U);
  EXPECT_EQ(nms_of(pair, 0.3F, Nms::none).size(), 2U);
  EXPECT_EQ(nms_of(pair, 0.5F, Nms::class_agnostic).size(), 2U);
}

TEST(Nms, iou_of_exactly_the_threshold_does_not_suppress) {
  // IoU p / q by construction: boxes of height 1, widths in whole pixels.
  for (int q = 2; q <= 60; ++q) {
    for (int p = 1; p < q; ++p) {
      const auto width = static_cast<float>(q);
      const std::vector<Detection> boxes{{{0, 0, width, 1}, 0.9F, 0, 0},
                                         {{0, 0, static_cast<float>(p), 1}, 0.8F, 0, 1}};
      const float exact = static_cast<float>(p) / width;
      EXPECT_EQ(nms_of(boxes, exact, Nms::class_aware).size(), 2U) << p << q;
      EXPECT_EQ(nms_of(boxes, exact - 1e-5F, Nms::class_aware).size(), 1U);
    }
  }
}

TEST(Nms, threshold_one_keeps_duplicates_and_zero_removes_any_overlap) {
  const std::vector<Detection> twins{pair[0], pair[0]};
  EXPECT_EQ(nms_of(twins, 1.0F, Nms::class_aware).size(), 2U);
  const std::vector<Detection> barely{{{0, 0, 10, 10}, 0.9F, 0, 0},
                                      {{9.99F, 0, 20, 10}, 0.8F, 0, 1}};
  EXPECT_EQ(nms_of(barely, 0, Nms::class_aware).size(), 1U);
  const std::vector<Detection> touching{{{0, 0, 10, 10}, 0.9F, 0, 0},
                                        {{10, 0, 20, 10}, 0.8F, 0, 1}};
  EXPECT_EQ(nms_of(touching, 0, Nms::class_aware).size(), 2U);
}

TEST(Nms, cap_keeps_the_best_and_zero_means_all) {
  const std::vector<Detection> apart{
      {{0, 0, 1, 1}, 0.5F, 0, 0}, {{5, 5, 6, 6}, 0.9F, 0, 1}, {{9, 9, 10, 10}, 0.7F, 0, 2}};
  for (const Nms nms : {Nms::class_aware, Nms::class_agnostic, Nms::none}) {
    EXPECT_EQ(anchors_of(nms_of(apart, 0.5F, nms, 1)), std::vector{1});
    EXPECT_EQ(nms_of(apart, 0.5F, nms, 0).size(), 3U);
  }
}

TEST(Nms, equal_scores_keep_their_order_and_negative_scores_are_not_lost) {
  const std::vector<Detection> same{{{0, 0, 1, 1}, -0.5F, 0, 7},
                                    {{5, 5, 6, 6}, -0.5F, 0, 3},
                                    {{8, 8, 9, 9}, -0.0F, 0, 5},
                                    {{11, 8, 12, 9}, 0.0F, 0, 4}};
  EXPECT_EQ(anchors_of(nms_of(same, 0.5F, Nms::class_aware)), (std::vector{5, 4, 7, 3}));
}

TEST(Nms, nan_scores_go_and_nan_or_empty_boxes_suppress_nothing) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Detection> boxes{{{0, 0, 9, 9}, nan, 0, 0},        {{nan, 0, 9, 9}, 0.9F, 0, 1},
                                     {{3, 3, 3, 9}, 0.8F, 0, 2},       {{9, 9, 0, 0}, 0.7F, 0, 3},
                                     {{0, 0, 9, 9}, 0.6F, 0, 4},       {{3, 3, 3, 9}, 0.5F, 0, 5},
                                     {{0, 0, infinity, 9}, 0.4F, 0, 6}};
  EXPECT_EQ(anchors_of(nms_of(boxes, 0.1F, Nms::class_aware)), (std::vector{1, 2, 3, 4, 5, 6}));
}

TEST(Nms, of_nothing_is_nothing) {
  EXPECT_TRUE(nms_of({}, 0.5F, Nms::class_aware).empty());
}

TEST(Select, top_k_keeps_the_best_scores_and_of_equal_ones_the_earlier) {
  const auto boxes = random_boxes(500, 99, 500);
  auto expected = boxes;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  for (const std::size_t k : {1, 7, 100, 499, 500, 501}) {
    const auto kept = nms_of(boxes, 1, Nms::class_agnostic, 0, k);
    const auto count = std::min<std::size_t>(k, boxes.size());
    ASSERT_EQ(kept.size(), count);
    EXPECT_TRUE(std::equal(kept.begin(), kept.end(), expected.begin()));
  }
  EXPECT_EQ(nms_of(boxes, 1, Nms::class_agnostic, 0, 0).size(), 500U);
  EXPECT_EQ(nms_of(boxes, 1, Nms::none, 0, 3).size(), 500U);  // top k enters suppression only
}

TEST(Select, result_does_not_depend_on_which_labels_are_far_apart) {
  // Class-aware by comparing labels: no box is moved, so no precision is lost however large a
  // label.
  auto boxes = random_boxes(300, 5, 2);
  const auto small = nms_of(boxes, 0.4F, Nms::class_aware);
  for (auto& d : boxes)
    d.label *= 2000000000;
  const auto large = nms_of(boxes, 0.4F, Nms::class_aware);
  EXPECT_EQ(anchors_of(small), anchors_of(large));
}

TEST(Select, top_k_then_suppression_is_suppression_of_the_sorted_prefix) {
  const auto boxes = random_boxes(700, 31);
  auto sorted = boxes;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Detection& a, const Detection& b) { return a.score > b.score; });
  for (const std::size_t k : {1, 13, 400, 699}) {
    const std::vector<Detection> prefix(sorted.begin(),
                                        sorted.begin() + static_cast<std::ptrdiff_t>(k));
    EXPECT_EQ(nms_of(boxes, 0.4F, Nms::class_aware, 0, k), nms_of(prefix, 0.4F, Nms::class_aware));
  }
}

TEST(Select, order_of_many_is_stable_however_it_is_sorted) {
  // Short lists and long ones are sorted differently.
  for (const std::size_t count : {1, 2, 1499, 1500, 20000}) {
    auto boxes = random_boxes(count, 17);
    boxes[count / 2].score = -std::numeric_limits<float>::infinity();
    boxes[count / 3].score = std::numeric_limits<float>::infinity();
    boxes[count - 1].score = -1e-42F;
    auto expected = boxes;
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Detection& a, const Detection& b) { return a.score > b.score; });
    EXPECT_EQ(nms_of(boxes, 1, Nms::none), expected);
  }
}

TEST(Select, moving_classes_apart_gives_what_comparing_labels_gives) {
  // Whole coordinates, so that moving them by whole pixels is exact.
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto boxes = random_boxes(400, seed, 80);
    auto moved = boxes;
    for (auto& d : moved) {
      const auto by = 7680.0F * static_cast<float>(d.label);
      d.box = {d.box.x1 + by, d.box.y1 + by, d.box.x2 + by, d.box.y2 + by};
    }
    const auto aware = nms_of(boxes, 0.7F, Nms::class_aware, 300);
    const auto shifted = nms_of(moved, 0.7F, Nms::class_agnostic, 300);
    EXPECT_EQ(anchors_of(aware), anchors_of(shifted));
  }
}

TEST(Select, score_of_exactly_the_threshold_stays) {
  const std::vector<Detection> boxes{{{0, 0, 1, 1}, 0.25F, 0, 0},
                                     {{5, 0, 6, 1}, std::nextafter(0.25F, 0.0F), 0, 1},
                                     {{9, 0, 10, 1}, 0.3F, 2, 2}};
  const auto kept = *non_maximum_suppression(boxes, {.score_threshold = 0.25F});
  EXPECT_EQ(anchors_of(kept), (std::vector{2, 0}));
}

TEST(Select, each_class_has_its_own_threshold_and_those_past_the_end_the_common_one) {
  std::vector<Detection> boxes;
  for (int label = -1; label < 4; ++label)
    boxes.push_back({{20.0F * static_cast<float>(label), 0, 10, 10}, 0.5F, label, label});
  SelectionOptions options{.score_threshold = 0.4F, .class_thresholds = {0.5F, 0.6F}};
  const auto kept = *non_maximum_suppression(boxes, options);
  ASSERT_EQ(kept.size(), 4U);
  for (const auto& d : kept)
    EXPECT_NE(d.label, 1);
  options.score_threshold = 0.6F;
  EXPECT_EQ(non_maximum_suppression(boxes, options)->size(), 1U);
}

TEST(Select, infinite_scores_have_their_place) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Detection> boxes{
      {{0, 0, 1, 1}, -infinity, 0, 0}, {{5, 0, 6, 1}, infinity, 0, 1}, {{9, 0, 10, 1}, -3, 0, 2}};
  const auto kept = nms_of(boxes, 0.5F, Nms::class_aware);
  EXPECT_EQ(anchors_of(kept), (std::vector{1, 2, 0}));
}

TEST(Select, a_choice_wins_over_the_description_and_class_aware_is_the_default) {
  EXPECT_EQ(resolved_nms(Nms::none, Nms::class_aware), Nms::none);
  EXPECT_EQ(resolved_nms({}, Nms::class_agnostic), Nms::class_agnostic);
  EXPECT_EQ(resolved_nms({}, {}), Nms::class_aware);
  EXPECT_EQ(resolved_nms(Nms::class_agnostic, {}, true), Nms::class_aware);
  EXPECT_EQ(resolved_nms(Nms::none, {}, true), Nms::none);
}

}  // namespace
}  // namespace halyard::decode
