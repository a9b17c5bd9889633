// SPDX-License-Identifier: Apache-2.0
// Precision and recall of scenes whose numbers follow by hand. Random scenes are held against
// pycocotools in tests/oracle/test_val.py.
#include <gtest/gtest.h>

#include <limits>
#include <string_view>
#include <vector>

#include "halyard/evaluate.h"
#include "support/result.h"

namespace halyard {
namespace {

CocoTruth scene(std::vector<CocoObject> objects, std::size_t categories = 1) {
  CocoTruth truth;
  truth.images = {{1, "a", {200, 200}}, {2, "b", {200, 200}}};
  for (std::size_t i = 0; i < categories; ++i)
    truth.categories.push_back({static_cast<std::int64_t>(i), ""});
  truth.objects = std::move(objects);
  for (CocoObject& one : truth.objects)
    if (one.area == 0) one.area = one.box.width * one.box.height;
  return truth;
}

CocoObject object(std::size_t image, CocoBox box, double score = 0, std::size_t category = 0) {
  CocoObject one;
  one.image = image;
  one.category = category;
  one.box = box;
  one.score = score;
  return one;
}

std::optional<double> score_named(const CocoScores& scores, std::string_view name) {
  for (const CocoMetric& each : scores.summary)
    if (each.name == name) return each.value;
  ADD_FAILURE() << name;
  return std::nullopt;
}

CocoScores scores_of(const CocoTruth& truth, const std::vector<CocoObject>& found,
                     CocoKind kind = CocoKind::boxes) {
  auto scores = evaluate_coco(truth, found, kind);
  EXPECT_TRUE(scores);
  return *scores;
}

TEST(CocoScores, all_found_is_one) {
  const CocoBox box{10, 10, 50, 50};
  const auto scores = scores_of(scene({object(0, box)}), {object(0, box, 0.4)});
  EXPECT_DOUBLE_EQ(score_named(scores, "AP").value_or(0), 1);
  EXPECT_DOUBLE_EQ(score_named(scores, "AR_1").value_or(0), 1);
  EXPECT_DOUBLE_EQ(score_named(scores, "AP_medium").value_or(0), 1);
  EXPECT_EQ(score_named(scores, "AP_small"), std::nullopt) << "no annotation is small";
}

TEST(CocoScores, a_false_alarm_above_the_match_halves_precision) {
  const CocoBox box{10, 10, 50, 50};
  const auto scores =
      scores_of(scene({object(0, box)}), {object(0, box, 0.4), object(1, box, 0.9)});
  EXPECT_DOUBLE_EQ(score_named(scores, "AP").value_or(0), 0.5);
  EXPECT_DOUBLE_EQ(score_named(scores, "AR_100").value_or(0), 1);
}

TEST(CocoScores, an_overlap_counts_up_to_its_threshold) {
  // 40 of 50 columns: an IoU of 40/60 = 0.667, which reaches 0.50, 0.55, 0.60 and 0.65.
  const auto scores =
      scores_of(scene({object(0, {0, 0, 50, 50})}), {object(0, {10, 0, 50, 50}, 0.9)});
  EXPECT_NEAR(score_named(scores, "AP").value_or(0), 0.4, 1e-12);
  EXPECT_DOUBLE_EQ(score_named(scores, "AP50").value_or(0), 1);
  EXPECT_DOUBLE_EQ(score_named(scores, "AP75").value_or(1), 0);
}

TEST(CocoScores, detections_of_a_crowd_do_not_count) {
  CocoObject crowd = object(0, {0, 0, 100, 100});
  crowd.is_crowd = true;
  const CocoBox box{120, 120, 50, 50};
  const auto scores = scores_of(
      scene({object(0, box), crowd}),
      {object(0, box, 0.3), object(0, {5, 5, 20, 20}, 0.9), object(0, {50, 50, 9, 9}, 0.8)});
  EXPECT_DOUBLE_EQ(score_named(scores, "AP").value_or(0), 1);
}

TEST(CocoScores, categories_are_apart) {
  const CocoBox box{10, 10, 50, 50};
  const auto scores =
      scores_of(scene({object(0, box, 0, 0), object(0, box, 0, 1)}, 3), {object(0, box, 0.9, 0)});
  ASSERT_EQ(scores.category_ap.size(), 3U);
  EXPECT_DOUBLE_EQ(scores.category_ap[0].value_or(0), 1);
  EXPECT_DOUBLE_EQ(scores.category_ap[1].value_or(1), 0);
  EXPECT_EQ(scores.category_ap[2], std::nullopt);
  EXPECT_DOUBLE_EQ(score_named(scores, "AP").value_or(0), 0.5);
}

TEST(CocoScores, masks_are_compared_where_they_are_asked_for) {
  CocoTruth truth = scene({object(0, {0, 0, 50, 50})});
  truth.images[0].size = {4, 4};
  truth.objects[0].mask = {{4, 4}, {0, 8, 8}};
  CocoObject half = object(0, {0, 0, 50, 50}, 0.9);
  half.mask = {{4, 4}, {0, 6, 10}};  // an IoU of 6/8
  const auto scores = scores_of(truth, {half}, CocoKind::masks);
  EXPECT_NEAR(score_named(scores, "AP").value_or(0), 0.6, 1e-12);
  EXPECT_DOUBLE_EQ(score_named(scores_of(truth, {half}), "AP").value_or(0), 1);
}

TEST(CocoScores, nothing_found_is_zero_and_nothing_wanted_is_unset) {
  const auto scores = scores_of(scene({object(0, {0, 0, 50, 50})}), {});
  EXPECT_DOUBLE_EQ(score_named(scores, "AP").value_or(1), 0);
  EXPECT_EQ(score_named(scores_of(scene({}), {object(0, {0, 0, 5, 5}, 1)}), "AP"), std::nullopt);
}

TEST(CocoScores, objects_that_cannot_be_are_refused) {
  const CocoTruth truth = scene({object(0, {0, 0, 5, 5})});
  const auto refused = [&](const CocoObject& found, CocoKind kind, const char* says) {
    EXPECT_FAILS(evaluate_coco(truth, {&found, 1}, kind), Errc::invalid_argument, says) << says;
  };
  refused(object(2, {}), CocoKind::boxes, "found[0].image: 2, must be below 2");
  refused(object(0, {}, 0, 1), CocoKind::boxes, "found[0].category: 1, must be below 1");
  refused(object(0, {}, std::numeric_limits<double>::quiet_NaN()), CocoKind::boxes,
          "must not be NaN");
  refused(object(0, {}), CocoKind::masks,
          "truth.objects[0].mask: must be runs of 200 x 200 pixels");
}

}  // namespace
}  // namespace halyard
