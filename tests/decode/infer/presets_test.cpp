// SPDX-License-Identifier: Apache-2.0
// Descriptions from names of families, and back to documents.
#include <gtest/gtest.h>

#include <string>

#include "decode/description/documents.h"
#include "decode/nms/selector.h"
#include "halyard/decode.h"
#include "halyard/describe.h"

namespace halyard::test {
namespace {

using Shape = std::vector<std::size_t>;

PresetOptions preset_options(std::string_view family) {
  PresetOptions options;
  if (family == "modelpack-split") options.anchors = {{{0.1F, 0.2F}}, {{0.3F, 0.4F}, {0.5F, 0.5F}}};
  return options;
}

Shape shape_of(std::string_view family, const PresetOptions& options = {}, std::size_t index = 0) {
  const auto d = describe_model(family, options);
  EXPECT_TRUE(d) << family << ": " << d.error().message();
  return d ? d->outputs.at(index).shape : Shape{};
}

std::string arrangement_of_family(std::string_view family) {
  const auto d = describe_model(family, preset_options(family));
  EXPECT_TRUE(d) << family << ": " << d.error().message();
  const auto found = arrangement_of(*d);
  return found ? std::string(to_string(*found)) : found.error().message();
}

TEST(Presets, have_the_shapes_that_are_published) {
  EXPECT_EQ(shape_of("yolov8"), (Shape{1, 84, 8400}));
  EXPECT_EQ(shape_of("yolo11-seg"), (Shape{1, 116, 8400}));
  EXPECT_EQ(shape_of("yolo11-seg", {}, 1), (Shape{1, 32, 160, 160}));
  EXPECT_EQ(shape_of("yolov8-pose"), (Shape{1, 56, 8400}));
  EXPECT_EQ(shape_of("yolov8-obb"), (Shape{1, 20, 21504}));
  EXPECT_EQ(shape_of("yolov8-cls"), (Shape{1, 1000}));
  EXPECT_EQ(shape_of("yolov5"), (Shape{1, 25200, 85}));
  EXPECT_EQ(shape_of("yolov5-seg"), (Shape{1, 25200, 117}));
  EXPECT_EQ(shape_of("yolo26"), (Shape{1, 300, 6}));
  EXPECT_EQ(shape_of("yolo26-seg"), (Shape{1, 300, 38}));
  EXPECT_EQ(shape_of("yolo26-pose"), (Shape{1, 300, 57}));
  EXPECT_EQ(shape_of("nanodet"), (Shape{1, 2100, 112}));
  EXPECT_EQ(shape_of("nanodet-plus"), (Shape{1, 3598, 112}));
  EXPECT_EQ(shape_of("rt-detr"), (Shape{1, 300, 84}));
  EXPECT_EQ(shape_of("segformer"), (Shape{1, 150, 128, 128}));
  EXPECT_EQ(shape_of("ssd", {}, 1), (Shape{1, 1917, 91}));
  EXPECT_EQ(shape_of("modelpack-split",
                     {.input = {480, 270},
                      .classes = 1,
                      .anchors = {{{1, 1}, {1, 1}, {1, 1}}, {{1, 1}, {1, 1}, {1, 1}}}}),
            (Shape{1, 17, 30, 18}));
}

TEST(Presets, follow_input_labels_and_points) {
  EXPECT_EQ(shape_of("yolo11", {.input = {416, 416}, .labels = {"boat", "buoy"}}),
            (Shape{1, 6, 3549}));
  EXPECT_EQ(shape_of("yolov8", {.input = {640, 480}, .classes = 3}), (Shape{1, 7, 6300}));
  EXPECT_EQ(shape_of("yolov8-pose", {.keypoints = KeypointShape{4, 2}}), (Shape{1, 13, 8400}));
  EXPECT_EQ(shape_of("segformer", {.classes = 19, .map = {64, 32}}), (Shape{1, 19, 32, 64}));
  EXPECT_EQ(shape_of("rt-detr", {.classes = 2, .boxes = 100}), (Shape{1, 100, 6}));
  ASSERT_VALUE(const auto d, describe_model("yolov8-seg", {.box_units = BoxUnits::fraction}));
  EXPECT_EQ(d.outputs[0].box_units, BoxUnits::fraction);
  EXPECT_EQ(d.labels.size(), 80U);
  EXPECT_EQ(d.task, Task::segment);
}

TEST(Presets, arrange_as_their_names_say) {
  EXPECT_EQ(arrangement_of_family("yolov5"), "yolo_det");
  EXPECT_EQ(arrangement_of_family("yolov8-seg"), "yolo_seg_det");
  EXPECT_EQ(arrangement_of_family("yolo11-pose"), "yolo_pose_det");
  EXPECT_EQ(arrangement_of_family("yolo11-obb"), "yolo_obb_det");
  EXPECT_EQ(arrangement_of_family("yolo26"), "yolo_end_to_end_det");
  EXPECT_EQ(arrangement_of_family("yolo26-seg"), "yolo_end_to_end_seg_det");
  EXPECT_EQ(arrangement_of_family("yolo26-pose"), "yolo_end_to_end_pose_det");
  EXPECT_EQ(arrangement_of_family("yolo26-obb"), "yolo_end_to_end_obb_det");
  EXPECT_EQ(arrangement_of_family("yolo11-cls"), "classifier");
  EXPECT_EQ(arrangement_of_family("modelpack"), "modelpack_det");
  EXPECT_EQ(arrangement_of_family("modelpack-split"), "modelpack_det_split");
  EXPECT_EQ(arrangement_of_family("modelpack-seg"), "modelpack_seg");
  EXPECT_EQ(arrangement_of_family("ssd"), "ssd_det");
  EXPECT_EQ(arrangement_of_family("nanodet-plus"), "nanodet_det");
  EXPECT_EQ(arrangement_of_family("rt-detr"), "detr_det");
  EXPECT_EQ(arrangement_of_family("deeplabv3"), "semantic_seg");
}

TEST(Presets, of_boxes_make_decoders) {
  std::size_t count = 0;
  for (const std::string_view family : model_families()) {
    auto d = describe_model(family, preset_options(family));
    ASSERT_TRUE(d) << family << ": " << d.error().message();
    const OutputRole first = d->outputs[0].role;
    if (first == OutputRole::classification || first == OutputRole::segmentation) continue;
    const auto decoder = Decoder::create(*std::move(d));
    EXPECT_TRUE(decoder) << family << ": " << decoder.error().message();
    ++count;
  }
  EXPECT_EQ(count, 22U);
}

TEST(Presets, become_documents_and_come_back) {
  for (const std::string_view family : model_families()) {
    const auto d = describe_model(family, preset_options(family));
    ASSERT_TRUE(d) << family << ": " << d.error().message();
    const auto again = ModelDescription::from_json(d->to_json());
    ASSERT_TRUE(again) << family << ": " << again.error().message();
    EXPECT_TRUE(again->warnings.empty()) << again->warnings[0];
    EXPECT_EQ(*again, *d) << family << again->to_json();
  }
}

TEST(Presets, refuse_options_that_do_not_fit) {
  expect_refusal(describe_model("yolo99"), Errc::unsupported, "\"yolo99\"; there are yolov5,");
  expect_refusal(describe_model("yolov8-soup"), Errc::unsupported, "yolov8-soup");
  expect_wrong(describe_model("yolov8", {.input = {-1, 640}}), "sides must be 1..65536: -1 x 640");
  expect_wrong(describe_model("yolov8", {.input = {65537, 640}}), "65537 x 640");
  expect_wrong(describe_model("yolov8", {.labels = {"a"}, .classes = 2}), "2 classes, 1 labels");
  expect_wrong(describe_model("yolov8", {.boxes = std::size_t{1} << 40}), "must be at most");
  expect_wrong(describe_model("modelpack-split"), "strides 16 and 32: 0 levels");
  expect_wrong(describe_model("modelpack-split", {.anchors = {{}, {}}}), "anchors");
  expect_wrong(describe_model("yolov8-pose", {.keypoints = KeypointShape{17, 5}}),
               "kpt_shape[1]: 5");
}

TEST(Labels, of_public_data_sets_are_known) {
  EXPECT_EQ(labels_of("coco").size(), 80U);
  EXPECT_EQ(labels_of("coco")[0], "person");
  EXPECT_EQ(labels_of("coco")[79], "toothbrush");
  EXPECT_EQ(labels_of("voc").size(), 20U);
  EXPECT_EQ(labels_of("dota").size(), 15U);
  EXPECT_EQ(labels_of("cityscapes").size(), 19U);
  EXPECT_TRUE(labels_of("soup").empty());
}

}  // namespace
}  // namespace halyard::test
