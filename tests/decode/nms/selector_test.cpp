// SPDX-License-Identifier: Apache-2.0
// Selector: its options, its memory, soft suppression, measures of overlap.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "decode/head/scenes.h"
#include "decode/nms/nms.h"
#include "halyard/decode.h"
#include "support/allocations.h"
#include "support/result.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

void expect_refused(const std::function<void(SelectionOptions&)>& spoil, const char* name) {
  SelectionOptions options;
  spoil(options);
  EXPECT_FAILS(Selector::create(options), Errc::invalid_argument, name) << name;
}

TEST(Selector, refuses_options_out_of_range_by_name) {
  expect_refused([](auto& o) { o.score_threshold = nan; }, "score_threshold");
  expect_refused([](auto& o) { o.class_thresholds = {0, nan}; }, "class_thresholds");
  for (const float bad : {nan, -0.1F, 1.1F, infinity}) {
    expect_refused([&](auto& o) { o.iou_threshold = bad; }, "iou_threshold");
    expect_refused([&](auto& o) { o.soft_floor = bad; }, "soft_floor");
  }
  for (const float bad : {nan, 0.0F, -1.0F, infinity})
    expect_refused([&](auto& o) { o.soft_sigma = bad; }, "soft_sigma");
  expect_refused([](auto& o) { o.nms = static_cast<Nms>(3); }, "nms");
  expect_refused([](auto& o) { o.suppression = static_cast<Suppression>(4); }, "suppression");
  expect_refused([](auto& o) { o.overlap = static_cast<Overlap>(3); }, "overlap");
}

TEST(Selector, refuses_another_number_of_rotated_boxes) {
  auto selector = *Selector::create({});
  const auto boxes = random_boxes(3, 1);
  const std::vector<RotatedBox> two(2);
  EXPECT_FAILS(selector.select(boxes, two), Errc::invalid_argument);
}

TEST(Selector, gives_indices_of_candidates_best_first) {
  const std::vector<Detection> boxes{
      {{0, 0, 9, 9}, 0.5F, 0, 70}, {{0, 0, 9, 8}, 0.9F, 0, 71}, {{50, 0, 59, 8}, 0.7F, 0, 72}};
  auto selector = *Selector::create({});
  const auto kept = *selector.select(boxes);
  EXPECT_EQ(std::vector(kept.begin(), kept.end()), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(selector.scores()[1], 0.7F);
  EXPECT_TRUE(selector.select({})->empty());
  EXPECT_TRUE(selector.scores().empty());
}

TEST(Selector, allocates_nothing_once_it_has_seen_as_many_candidates) {
  const auto boxes = boxes_of_all_sizes(2500, 3, 50);
  std::vector<RotatedBox> rotated;
  for (const auto& d : boxes)
    rotated.push_back({d.box.x1, d.box.y1, d.box.width(), d.box.height(), d.score});
  for (const auto suppression : {Suppression::greedy, Suppression::fast, Suppression::soft_linear,
                                 Suppression::soft_gaussian}) {
    for (const std::size_t top_k : {0, 2000}) {
      const SelectionOptions options{
          .top_k = top_k, .suppression = suppression, .max_detections = 1500};
      auto selector = *Selector::create(options);
      EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(selector.select(boxes)); }), 0U);
      EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(selector.select(boxes, rotated)); }), 0U);
      EXPECT_EQ(allocations_of([&] { ASSERT_TRUE(selector.select({boxes.data(), 999})); }), 0U);
    }
  }
}

TEST(Selector, takes_a_million_candidates) {
  std::vector<Detection> boxes(1000000, {{3, 3, 9, 9}, 0.5F, 0, 0});
  boxes[777777].score = 0.75F;
  auto selector = *Selector::create({.max_detections = 300});
  const auto kept = *selector.select(boxes);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0], 777777U);
}

TEST(SoftSuppression, linear_takes_the_overlap_off_where_it_exceeds_the_threshold) {
  // IoU 0.5 with the first and 0.2 with the second.
  const std::vector<Detection> boxes{{{0, 0, 10, 10}, 0.8F, 0, 0}, {{0, 0, 10, 5}, 0.6F, 0, 1}};
  SelectionOptions options{.suppression = Suppression::soft_linear, .iou_threshold = 0.3F};
  auto kept = *non_maximum_suppression(boxes, options);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].score, 0.8F);
  EXPECT_FLOAT_EQ(kept[1].score, 0.3F);
  options.iou_threshold = 0.5F;  // exactly
  EXPECT_EQ(non_maximum_suppression(boxes, options)->at(1).score, 0.6F);
  options.iou_threshold = 0.3F;
  options.soft_floor = 0.31F;
  EXPECT_EQ(non_maximum_suppression(boxes, options)->size(), 1U);
}

TEST(SoftSuppression, gaussian_weighs_every_overlap_by_sigma) {
  const std::vector<Detection> boxes{{{0, 0, 10, 10}, 0.8F, 0, 0}, {{0, 0, 10, 5}, 0.6F, 0, 1}};
  SelectionOptions options;
  options.suppression = Suppression::soft_gaussian;
  options.iou_threshold = 1;  // does not matter
  for (const float sigma : {0.1F, 0.5F, 2.0F}) {
    options.soft_sigma = sigma;
    const auto kept = *non_maximum_suppression(boxes, options);
    ASSERT_EQ(kept.size(), 2U);
    EXPECT_NEAR(kept[1].score, 0.6 * std::exp(-0.25 / sigma), 1e-6);
  }
}

TEST(SoftSuppression, order_is_that_of_the_scores_left_and_other_classes_do_not_matter) {
  const std::vector<Detection> boxes{{{0, 0, 10, 10}, 0.9F, 0, 0},
                                     {{0, 0, 10, 9}, 0.8F, 0, 1},
                                     {{0, 0, 10, 9}, 0.7F, 1, 2},
                                     {{80, 0, 90, 10}, 0.5F, 0, 3}};
  SelectionOptions options{.suppression = Suppression::soft_linear};
  const auto kept = *non_maximum_suppression(boxes, options);
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[1].anchor, 2);
  EXPECT_EQ(kept[1].score, 0.7F);
  EXPECT_EQ(kept[2].anchor, 3);
  EXPECT_NEAR(kept[3].score, 0.08, 1e-6);
  options.nms = Nms::class_agnostic;
  EXPECT_LT(non_maximum_suppression(boxes, options)->at(2).score, 0.1F);
}

TEST(SoftSuppression, leaves_scores_of_zero_and_below_and_takes_twins_to_zero) {
  const Box box{0, 0, 10, 10};
  const std::vector<Detection> boxes{{box, 0.9F, 0, 0}, {box, -0.5F, 0, 1}, {box, 0.4F, 0, 2}};
  const SelectionOptions options{.suppression = Suppression::soft_linear, .soft_floor = 0};
  const auto kept = *non_maximum_suppression(boxes, options);
  ASSERT_EQ(kept.size(), 3U);
  EXPECT_EQ(kept[1].anchor, 2);
  EXPECT_EQ(kept[1].score, 0);
  EXPECT_EQ(kept[2].score, -0.5F);
}

TEST(FastSuppression, what_went_suppresses_too) {
  // A chain: each overlaps the next, the first not the last.
  const std::vector<Detection> boxes{
      {{0, 0, 10, 10}, 0.9F, 0, 0}, {{4, 0, 14, 10}, 0.8F, 0, 1}, {{8, 0, 18, 10}, 0.7F, 0, 2}};
  SelectionOptions options{.iou_threshold = 0.3F};
  EXPECT_EQ(non_maximum_suppression(boxes, options)->size(), 2U);
  options.suppression = Suppression::fast;
  EXPECT_EQ(non_maximum_suppression(boxes, options)->size(), 1U);
}

TEST(Overlaps, have_the_worked_values) {
  // 100 x 100 shared; areas 60000 and 10000.
  const Box a{100, 100, 400, 300}, b{350, 150, 400, 300 - 50};
  EXPECT_FLOAT_EQ(ios(a, b), 1);
  const Box c{0, 0, 100, 100}, d{50, 0, 150, 100};
  EXPECT_EQ(ios(c, d), 0.5F);
  // IoU 1/3; centres 50 apart; diagonal^2 150^2 + 100^2.
  EXPECT_NEAR(distance_iou(c, d), 1.0 / 3 - 2500.0 / 32500, 1e-6);
  EXPECT_NEAR(distance_iou({0, 0, 1, 1}, {9, 0, 10, 1}), -81.0 / 101, 1e-6);
  EXPECT_EQ(distance_iou(c, c), 1);
  EXPECT_EQ(distance_iou(c, {5, 5, 5, 9}), 0);
  EXPECT_EQ(ios(c, {0, 0, infinity, 9}), 0);
  EXPECT_EQ(ios(c, {nan, 0, 9, 9}), 0);
}

// As the measures are defined, in double.
double naive_overlap(Overlap overlap, const Box& a, const Box& b) {
  const auto area = [](double x1, double y1, double x2, double y2) {
    return std::max(x2 - x1, 0.0) * std::max(y2 - y1, 0.0);
  };
  const double shared =
      area(std::max(a.x1, b.x1), std::max(a.y1, b.y1), std::min(a.x2, b.x2), std::min(a.y2, b.y2));
  const double first = area(a.x1, a.y1, a.x2, a.y2);
  const double second = area(b.x1, b.y1, b.x2, b.y2);
  if (overlap == Overlap::ios) return shared / std::min(first, second);
  const double iou = shared / (first + second - shared);
  if (overlap == Overlap::iou) return iou;
  const double distance =
      std::hypot((double(a.x1) + a.x2 - b.x1 - b.x2) / 2, (double(a.y1) + a.y2 - b.y1 - b.y2) / 2);
  const double diagonal = std::hypot(double(std::max(a.x2, b.x2)) - std::min(a.x1, b.x1),
                                     double(std::max(a.y2, b.y2)) - std::min(a.y1, b.y1));
  return iou - distance * distance / (diagonal * diagonal);
}

TEST(Overlaps, are_those_of_their_definition) {
  const auto boxes = random_boxes(200, 4);
  for (const Detection& a : boxes) {
    for (const Detection& b : boxes) {
      const auto expect_defined = [&]<Overlap overlap>() {
        const auto first = decode::flat_box(a.box, 0);
        const auto second = decode::flat_box(b.box, 0);
        EXPECT_NEAR(decode::overlap_of<overlap>(first, second),
                    naive_overlap(overlap, a.box, b.box), 1e-6);
      };
      expect_defined.operator()<Overlap::iou>();
      expect_defined.operator()<Overlap::diou>();
      expect_defined.operator()<Overlap::ios>();
    }
  }
}

TEST(Overlaps, distance_keeps_neighbours_that_iou_takes_and_ios_takes_parts) {
  const std::vector<Detection> aside{{{0, 0, 10, 10}, 0.9F, 0, 0}, {{5, 0, 15, 10}, 0.8F, 0, 1}};
  const std::vector<Detection> part{{{0, 0, 10, 10}, 0.9F, 0, 0}, {{1, 1, 4, 4}, 0.8F, 0, 1}};
  const auto count = [](const auto& boxes, Overlap overlap) {
    const SelectionOptions options{.overlap = overlap, .iou_threshold = 0.3F};
    return non_maximum_suppression(boxes, options)->size();
  };
  EXPECT_EQ(count(aside, Overlap::iou), 1U);
  EXPECT_EQ(count(aside, Overlap::diou), 2U);
  EXPECT_EQ(count(part, Overlap::iou), 2U);
  EXPECT_EQ(count(part, Overlap::ios), 1U);
}

TEST(Overlaps, ios_of_exactly_the_threshold_does_not_suppress) {
  for (int q = 2; q <= 60; ++q) {
    for (int p = 1; p < q; ++p) {
      const auto width = static_cast<float>(q), shared = static_cast<float>(p);
      const std::vector<Detection> boxes{{{0, 0, width, 1}, 0.9F, 0, 0},
                                         {{width - shared, 0, 2 * width - shared, 1}, 0.8F, 0, 1}};
      SelectionOptions options{.overlap = Overlap::ios, .iou_threshold = shared / width};
      EXPECT_EQ(non_maximum_suppression(boxes, options)->size(), 2U) << p << "/" << q;
      options.iou_threshold -= 1e-5F;
      EXPECT_EQ(non_maximum_suppression(boxes, options)->size(), 1U) << p << "/" << q;
    }
  }
}

}  // namespace
}  // namespace halyard::test
