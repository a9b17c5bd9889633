// SPDX-License-Identifier: Apache-2.0
// COCO's documents: what is read, and what is refused in which words.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "halyard/evaluate.h"
#include "support/result.h"

namespace halyard {
namespace {

constexpr const char* two_images = R"({
  "images": [{"id": 9, "file_name": "b.jpg", "width": 8, "height": 6},
             {"id": 2, "file_name": "a.jpg", "width": 8, "height": 6}],
  "categories": [{"id": 7, "name": "boat"}, {"id": 3, "name": "buoy"}],
  "annotations": [
    {"id": 1, "image_id": 9, "category_id": 7, "bbox": [1, 2, 3, 2.5],
     "segmentation": [[1, 1, 5, 1, 5, 4, 1, 4]]},
    {"id": 2, "image_id": 2, "category_id": 3, "bbox": [0, 0, 4, 4], "area": 9, "iscrowd": 1,
     "segmentation": {"size": [6, 8], "counts": [6, 12, 30]}}]})";

TEST(CocoDocuments, instances_are_sorted_by_id) {
  ASSERT_VALUE(const auto truth, parse_coco_truth(two_images, CocoKind::boxes));
  ASSERT_EQ(truth.images.size(), 2U);
  EXPECT_EQ(truth.images[0].file, "a.jpg");
  EXPECT_EQ(truth.images[0].size, (Size{8, 6}));
  EXPECT_EQ(truth.categories[0].name, "buoy");
  EXPECT_TRUE(truth.has_segmentations);
  ASSERT_EQ(truth.objects.size(), 2U);
  const CocoObject& boat = truth.objects[0];
  EXPECT_EQ(boat.image, 1U);
  EXPECT_EQ(boat.category, 1U);
  EXPECT_EQ(boat.box.height, 2.5);
  EXPECT_EQ(boat.area, 7.5);
  EXPECT_FALSE(boat.is_crowd);
  EXPECT_TRUE(boat.mask.counts.empty());
  EXPECT_EQ(truth.objects[1].area, 9);
  EXPECT_TRUE(truth.objects[1].is_crowd);
}

TEST(CocoDocuments, masks_have_the_size_of_their_image) {
  ASSERT_VALUE(const auto truth, parse_coco_truth(two_images, CocoKind::masks));
  // Four columns of three rows: 1 <= x < 5, 1 <= y < 4.
  EXPECT_EQ(truth.objects[0].mask.counts, (std::vector<std::uint32_t>{7, 3, 3, 3, 3, 3, 3, 3, 20}));
  EXPECT_EQ(truth.objects[0].area, 12);
  EXPECT_EQ(truth.objects[1].mask, (Rle{{8, 6}, {6, 12, 30}}));
  EXPECT_EQ(truth.objects[1].area, 9) << "the document's own";
}

TEST(CocoDocuments, results_of_other_categories_are_counted) {
  ASSERT_VALUE(const auto truth, parse_coco_truth(two_images, CocoKind::boxes));
  ASSERT_VALUE(const auto results, parse_coco_results(R"([
    {"image_id": 2, "category_id": 3, "bbox": [1, 1, 2, 2], "score": 0.5},
    {"image_id": 2, "category_id": 4, "bbox": [1, 1, 2, 2], "score": 0.5}])",
                                                      truth, CocoKind::boxes));
  ASSERT_EQ(results.objects.size(), 1U);
  EXPECT_EQ(results.left_out, 1U);
  EXPECT_EQ(results.objects[0].image, 0U);
  EXPECT_EQ(results.objects[0].category, 0U);
  EXPECT_EQ(results.objects[0].score, 0.5);
}

TEST(CocoDocuments, what_is_wrong_is_named_by_its_path) {
  const struct {
    std::string json;
    const char* says;
  } cases[] = {
      {"{\n\n1}", "is not JSON: line 3"},
      {"[]", "must be an object"},
      {R"({"images": [], "categories": []})", "annotations: is missing"},
      {R"({"images": [{"id": 1}, {"id": 1}], "categories": [], "annotations": []})",
       "images: the id 1 occurs twice"},
      {R"({"images": [{"id": 1, "width": 0, "height": 4}], "categories": [], "annotations": []})",
       "images[0].width: 0, must be 1..65535"},
      {R"({"images": [], "categories": [], "annotations": [{"image_id": 4}]})",
       "annotations[0].image_id: 4 is not in the ground truth"},
      {R"({"images": [{"id": 1}], "categories": [{"id": 1}],
           "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, -1, 2]}]})",
       "annotations[0].bbox[2]: -1, must be at least 0"},
  };
  for (const auto& each : cases)
    EXPECT_FAILS(parse_coco_truth(each.json, CocoKind::boxes), Errc::malformed, each.says)
        << each.json;
}

TEST(CocoDocuments, masks_that_cannot_be_are_refused) {
  const auto with = [](const std::string& segmentation, const std::string& size) {
    return R"({"images": [{"id": 1)" + size + R"(}], "categories": [{"id": 1}],
      "annotations": [{"image_id": 1, "category_id": 1, "segmentation": )" +
           segmentation + "}]}";
  };
  const std::string size = R"(, "width": 4, "height": 2)";
  const struct {
    std::string json;
    const char* says;
  } cases[] = {
      {with("[[0, 0, 1, 1, 2, 0]]", ""), "segmentation: needs the image's width and height"},
      {with("[]", size), "segmentation: must hold a polygon"},
      {with("[[0, 0, 1, 1]]", size), "segmentation[0]: must be x, y of three points or more"},
      {with(R"({"size": [4, 2], "counts": [8]})", size), "segmentation.size: must be [2, 4]"},
      {with(R"({"size": [2, 4], "counts": [7]})", size), "segmentation."},
      {with(R"({"size": [2, 4], "counts": [-1]})", size), "counts[0]: must be 0..2^32-1"},
  };
  for (const auto& each : cases)
    EXPECT_FAILS(parse_coco_truth(each.json, CocoKind::masks), Errc::malformed, each.says)
        << each.json;
}

TEST(CocoDocuments, outlines_beyond_the_limit_are_refused_before_they_are_walked) {
  std::string polygons;
  for (int i = 0; i < 8; ++i)
    polygons += std::string(i == 0 ? "" : ", ") + "[0, 0, 3000000, 0, 3000000, 1]";
  EXPECT_FAILS(parse_coco_truth(
                   R"({"images": [{"id": 1, "width": 4, "height": 2}], "categories": [{"id": 1}],
          "annotations": [{"image_id": 1, "category_id": 1, "segmentation": [)" +
                       polygons + "]}]}",
                   CocoKind::masks),
               Errc::exhausted, "at most");
}

TEST(MatchCategories, by_name_or_by_order) {
  const std::vector<CocoCategory> categories{{1, "boat"}, {5, "buoy"}};
  ASSERT_VALUE(const auto named,
               match_categories(std::vector<std::string>{"kite", "buoy", "boat"}, categories));
  EXPECT_EQ(named, (std::vector<std::optional<std::size_t>>{{}, 1, 0}));
  ASSERT_VALUE(const auto ordered,
               match_categories(std::vector<std::string>{"a", "b"}, categories));
  EXPECT_EQ(ordered, (std::vector<std::optional<std::size_t>>{0, 1}));
  EXPECT_FAILS(match_categories(std::vector<std::string>{"a"}, categories), Errc::invalid_argument,
               "1 labels, 2 categories");
}

}  // namespace
}  // namespace halyard
