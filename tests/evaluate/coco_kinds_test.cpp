// SPDX-License-Identifier: Apache-2.0
// Keypoints, rotated boxes and classes: documents, and scores that follow by hand. Keypoints are
// compared with pycocotools in tests/oracle/test_val_keypoints.py.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "halyard/evaluate.h"
#include "support/result.h"

namespace halyard {
namespace {

std::string document(const std::string& categories, const std::string& annotations) {
  return R"({"images": [{"id": 1}, {"id": 2}], "categories": [)" + categories +
         R"(], "annotations": [)" + annotations + "]}";
}

std::string annotation(const std::string& more, int image = 1, int category = 1) {
  return R"({"image_id": )" + std::to_string(image) + R"(, "category_id": )" +
         std::to_string(category) + (more.empty() ? "" : ", ") + more + "}";
}

constexpr const char* boat = R"({"id": 1, "name": "boat"})";
constexpr const char* two_points = R"("bbox": [0, 0, 10, 10], "keypoints": [1, 2, 2, 3, 4, 0])";

std::optional<double> metric(const CocoScores& scores, std::string_view name) {
  for (const CocoMetric& each : scores.summary)
    if (each.name == name) return each.value;
  ADD_FAILURE() << name;
  return std::nullopt;
}

TEST(CocoKeypoints, have_the_sigmas_of_the_document_or_of_their_number) {
  const auto sigmas_of = [](const std::string& category, const std::string& points) {
    const auto truth =
        parse_coco_truth(document(category, annotation(points)), CocoKind::keypoints);
    EXPECT_TRUE(truth) << truth.error().message();
    return truth->categories[0].sigmas;
  };
  using Sigmas = std::vector<double>;
  EXPECT_EQ(sigmas_of(boat, two_points), (Sigmas{0.5, 0.5}));
  EXPECT_EQ(sigmas_of(R"({"id": 1, "sigmas": [0.1, 0.3]})", two_points), (Sigmas{0.1, 0.3}));
  std::string many = R"("bbox": [0, 0, 1, 1], "keypoints": [0, 0, 1)";
  for (int i = 1; i < 17; ++i)
    many += ", 1, 1, 1";
  const Sigmas of_people = sigmas_of(boat, many + "]");
  ASSERT_EQ(of_people.size(), 17U);
  EXPECT_EQ(of_people[0], 0.026);
  EXPECT_EQ(of_people[16], 0.089);
}

TEST(CocoKeypoints, are_read_with_visibility_and_area) {
  ASSERT_VALUE(const auto truth,
               parse_coco_truth(document(boat, annotation(two_points)), CocoKind::keypoints));
  EXPECT_TRUE(truth.has_keypoints);
  ASSERT_EQ(truth.objects.size(), 1U);
  EXPECT_EQ(truth.objects[0].area, 100) << "of the box";
  ASSERT_EQ(truth.objects[0].keypoints.size(), 2U);
  EXPECT_EQ(truth.objects[0].keypoints[1].at.y, 4);
  EXPECT_EQ(truth.objects[0].keypoints[1].visibility, 0);
  ASSERT_VALUE(const auto results, parse_coco_results(R"([{"image_id": 1, "category_id": 1,
      "score": 1, "keypoints": [5, 2, 0.9, 1, 8, 0.1]}])",
                                                      truth, CocoKind::keypoints));
  const CocoBox& around = results.objects[0].box;
  EXPECT_EQ(around.x, 1);
  EXPECT_EQ(around.width * around.height, 24);
}

TEST(CocoKeypoints, of_categories_without_any_are_left_out) {
  const std::string categories = R"({"id": 1, "keypoints": ["bow", "stern"]}, {"id": 2})";
  const std::string annotations = annotation(two_points) + "," + annotation("", 2, 2);
  ASSERT_VALUE(const auto truth,
               parse_coco_truth(document(categories, annotations), CocoKind::keypoints));
  EXPECT_EQ(truth.objects.size(), 1U);
  EXPECT_TRUE(truth.categories[1].sigmas.empty());
  ASSERT_VALUE(const auto results,
               parse_coco_results(R"([{"image_id": 1, "category_id": 2, "score": 1}])", truth,
                                  CocoKind::keypoints));
  EXPECT_EQ(results.left_out, 1U);
}

TEST(CocoKeypoints, that_cannot_be_are_refused) {
  const auto refused = [](const std::string& category, const std::string& points,
                          const char* says) {
    EXPECT_FAILS(parse_coco_truth(document(category, annotation(points)), CocoKind::keypoints),
                 Errc::malformed, says)
        << says;
  };
  refused(boat, R"("bbox": [0, 0, 1, 1])", "annotations[0].keypoints: is missing");
  refused(boat, R"("bbox": [0, 0, 1, 1], "keypoints": [1, 2])", "three numbers of each, has 2");
  refused(boat, R"("bbox": [0, 0, 1, 1], "keypoints": [1, "2", 2])",
          "keypoints[1]: must be a number");
  refused(boat, R"("keypoints": [1, 2, 2])", "annotations[0].bbox: is missing");
  refused(R"({"id": 1, "keypoints": ["bow"]})", two_points, "has 2, must have the 1");
  refused(R"({"id": 1, "sigmas": [0.1, 0]})", two_points, "categories[0].sigmas[1]: 0, must be");
  refused(R"({"id": 1, "keypoints": ["bow", "stern"], "sigmas": [0.1]})", two_points,
          "sigmas: has 1, must have one for each of 2");
}

TEST(CocoKeypoints, are_as_alike_as_their_distance_says) {
  ASSERT_VALUE(const auto truth, parse_coco_truth(document(R"({"id": 1, "sigmas": [0.1, 0.1]})",
                                                           annotation(two_points)),
                                                  CocoKind::keypoints));
  CocoObject found = truth.objects[0];
  found.score = 1;
  // OKS 0.72 of the labeled point; the other is not looked at: 0.50, 0.55, 0.60, 0.65, 0.70.
  found.keypoints[0].at.x += std::sqrt(-std::log(0.72) * 8 * 0.01 * 100);
  found.keypoints[1].at.x = 1e6;
  ASSERT_VALUE(const auto scores, evaluate_coco(truth, {&found, 1}, CocoKind::keypoints));
  ASSERT_EQ(scores.summary.size(), 10U);
  EXPECT_NEAR(metric(scores, "AP").value_or(0), 0.5, 1e-12);
  EXPECT_EQ(metric(scores, "AP75"), 0.0);
  EXPECT_EQ(metric(scores, "AR50"), 1.0);
  found.keypoints.pop_back();
  EXPECT_FAILS(evaluate_coco(truth, {&found, 1}, CocoKind::keypoints), Errc::invalid_argument,
               "found[0].keypoints: 1, must be 2");
}

TEST(CocoKeypoints, without_labels_count_neither_way) {
  const std::string unlabeled = R"("bbox": [50, 50, 10, 10], "keypoints": [0, 0, 0, 0, 0, 0])";
  ASSERT_VALUE(const auto truth, parse_coco_truth(document(boat, annotation(two_points) + "," +
                                                                     annotation(unlabeled)),
                                                  CocoKind::keypoints));
  CocoObject right = truth.objects[0], beside = right;
  right.score = 0.5;
  beside.score = 0.9;
  for (CocoKeypoint& point : beside.keypoints)
    point.at = {55, 55};
  const std::vector<CocoObject> found{right, beside};
  ASSERT_VALUE(const auto scores, evaluate_coco(truth, found, CocoKind::keypoints));
  EXPECT_EQ(metric(scores, "AP"), 1.0);
}

TEST(CocoRotatedBoxes, are_read_from_numbers_corners_and_polygons) {
  for (const char* text : {R"("rbox": [10, 20, 8, 4, 1.5707963267948966])",
                           R"("poly": [12, 16, 12, 24, 8, 24, 8, 16])",
                           R"("segmentation": [[12, 16, 12, 24, 8, 24, 8, 16]])"}) {
    ASSERT_VALUE(const auto truth,
                 parse_coco_truth(document(boat, annotation(text)), CocoKind::rotated_boxes));
    EXPECT_TRUE(truth.has_rotated_boxes);
    const CocoObject& object = truth.objects[0];
    EXPECT_NEAR(object.corners[0].x, 12, 1e-9) << text;
    EXPECT_NEAR(object.corners[0].y, 16, 1e-9) << text;
    EXPECT_NEAR(object.area, 32, 1e-9);
    ASSERT_VALUE(const auto boxes,
                 parse_coco_truth(document(boat, annotation(text)), CocoKind::boxes));
    EXPECT_NEAR(boxes.objects[0].box.x, 8, 1e-9) << text;
    EXPECT_NEAR(boxes.objects[0].box.height, 8, 1e-9) << text;
  }
}

TEST(CocoRotatedBoxes, that_cannot_be_are_refused) {
  const auto refused = [](const std::string& more, const char* says) {
    EXPECT_FAILS(parse_coco_truth(document(boat, annotation(more)), CocoKind::rotated_boxes),
                 Errc::malformed, says)
        << says;
  };
  refused("", "annotations[0].rbox: is missing, and poly, and a segmentation");
  refused(R"("rbox": [1, 2, 3, 4])", "rbox: must be [cx, cy, width, height, angle]");
  refused(R"("rbox": [1, 2, -3, 4, 0])", "rbox[2]: -3, must be at least 0");
  refused(R"("rbox": [1e300, 2, 1e300, 4, 1])", "rbox: a number is out of range");
  refused(R"("poly": [0, 0, 1, 1])", "poly: must be x, y of four corners");
  refused(R"("poly": [0, 0, 4, 4, 4, 0, 0, 4])", "poly: must be convex");
  refused(R"("segmentation": [[0, 0, 4, 0, 4, 4]])", "rbox: is missing");
}

TEST(CocoRotatedBoxes, are_compared_by_what_they_share) {
  ASSERT_VALUE(const auto truth,
               parse_coco_truth(document(boat, annotation(R"("rbox": [50, 50, 40, 40, 0])")),
                                CocoKind::rotated_boxes));
  // A square and itself at 45 degrees: (sqrt 2 - 1) 2 of the area shared, an IoU of 0.707.
  ASSERT_VALUE(const auto found,
               parse_coco_results(R"([{"image_id": 1, "category_id": 1, "score": 1,
                                       "rbox": [50, 50, 40, 40, 0.78539816339744828]}])",
                                  truth, CocoKind::rotated_boxes));
  ASSERT_VALUE(const auto scores, evaluate_coco(truth, found.objects, CocoKind::rotated_boxes));
  ASSERT_EQ(scores.summary.size(), 12U);
  EXPECT_NEAR(metric(scores, "AP").value_or(0), 0.5, 1e-12);
  EXPECT_EQ(metric(scores, "AP75"), 0.0);
  EXPECT_EQ(metric(scores, "AP_medium").has_value(), true);
  CocoObject crossed = found.objects[0];
  std::swap(crossed.corners[0], crossed.corners[1]);
  EXPECT_FAILS(evaluate_coco(truth, {&crossed, 1}, CocoKind::rotated_boxes), Errc::invalid_argument,
               "found[0].corners: must be finite and convex");
}

TEST(CocoClasses, top_one_and_top_five) {
  std::string categories = R"({"id": 1})";
  for (int i = 2; i <= 7; ++i)
    categories += R"(, {"id": )" + std::to_string(i) + "}";
  ASSERT_VALUE(const auto truth, parse_coco_truth(document(categories, annotation("", 1, 1) + "," +
                                                                           annotation("", 2, 6)),
                                                  CocoKind::classes));
  std::string list;
  for (int i = 1; i <= 6; ++i)
    for (int image = 1; image <= 2; ++image)
      list += std::string(list.empty() ? "" : ", ") + R"({"image_id": )" + std::to_string(image) +
              R"(, "category_id": )" + std::to_string(i) + R"(, "score": )" +
              std::to_string(1.0 - 0.1 * i) + "}";
  ASSERT_VALUE(const auto all, parse_coco_results("[" + list + "]", truth, CocoKind::classes));
  ASSERT_VALUE(const auto sixth, evaluate_coco(truth, all.objects, CocoKind::classes));
  EXPECT_EQ(metric(sixth, "top1"), 0.5);
  EXPECT_EQ(metric(sixth, "top5"), 0.5) << "the right one is the sixth";
  EXPECT_EQ(sixth.category_ap[0], 1.0);
  EXPECT_EQ(sixth.category_ap[5], 0.0);
  EXPECT_EQ(sixth.category_ap[1], std::nullopt);
  // A better one that the ground truth does not know takes a place, too.
  ASSERT_VALUE(const auto unknown, parse_coco_results(R"([
      {"image_id": 1, "category_id": 99, "score": 0.9},
      {"image_id": 1, "category_id": 1, "score": 0.8}])",
                                                      truth, CocoKind::classes));
  EXPECT_EQ(unknown.left_out, 0U);
  ASSERT_VALUE(const auto second, evaluate_coco(truth, unknown.objects, CocoKind::classes));
  EXPECT_EQ(metric(second, "top1"), 0.0);
  EXPECT_EQ(metric(second, "top5"), 0.5);
}

TEST(CocoClasses, an_image_has_one) {
  const std::string twice = annotation("") + "," + annotation("");
  EXPECT_FAILS(parse_coco_truth(document(boat, twice), CocoKind::classes), Errc::malformed,
               "annotations[1].image_id: the image has a class already");
  ASSERT_VALUE(auto truth, parse_coco_truth(document(boat, annotation("")), CocoKind::classes));
  EXPECT_EQ(metric(*evaluate_coco(truth, {}, CocoKind::classes), "top5"), 0.0);
  truth.objects.push_back(truth.objects[0]);
  EXPECT_FAILS(evaluate_coco(truth, {}, CocoKind::classes), Errc::invalid_argument,
               "truth.objects[1]: must be the only class of its image");
  truth.objects.clear();
  EXPECT_EQ(metric(*evaluate_coco(truth, {}, CocoKind::classes), "top1"), std::nullopt);
}

}  // namespace
}  // namespace halyard
