// SPDX-License-Identifier: Apache-2.0
// How outputs go together, by roles and families.
#include <gtest/gtest.h>

#include <string>

#include "documents.h"

namespace halyard::test {
namespace {

using enum OutputRole;

OutputDescription output(OutputRole role, std::vector<std::size_t> shape,
                         Family family = Family::ultralytics) {
  return {.role = role, .family = family, .shape = std::move(shape)};
}

ModelDescription of(std::vector<OutputDescription> outputs, std::string version = "") {
  ModelDescription d;
  d.outputs = std::move(outputs);
  d.decoder_version = std::move(version);
  return d;
}

std::string name_of(const ModelDescription& description) {
  const auto found = arrangement_of(description);
  return found ? std::string(to_string(*found)) : found.error().message();
}

const OutputDescription whole_detection = output(detection, {1, 116, 8400});
const OutputDescription rows = output(detection, {1, 300, 6});
const OutputDescription protos = output(prototypes, {1, 160, 160, 32});
const OutputDescription coefs = output(mask_coefficients, {1, 32, 8400});
const OutputDescription lone_boxes = output(boxes, {1, 4, 8400});
const OutputDescription split_scores = output(scores, {1, 80, 8400});
const OutputDescription split_classes = output(classes, {1, 1, 8400});

TEST(Arrangement, of_yolo_follows_the_roles) {
  EXPECT_EQ(name_of(of({whole_detection})), "yolo_det");
  EXPECT_EQ(name_of(of({whole_detection, protos})), "yolo_seg_det");
  EXPECT_EQ(name_of(of({protos, whole_detection, coefs})), "yolo_seg_det_2way");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores})), "yolo_split_det");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores, coefs, protos})), "yolo_split_seg_det");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores, split_classes})), "yolo_split_end_to_end_det");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores, split_classes, coefs, protos})),
            "yolo_split_end_to_end_seg_det");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores, output(objectness, {1, 1, 8400})})),
            "yolo_split_det");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores, output(keypoints, {1, 51, 8400})})),
            "yolo_split_pose_det");
  EXPECT_EQ(name_of(of({lone_boxes, split_scores, output(angles, {1, 1, 8400})})),
            "yolo_split_obb_det");
  EXPECT_EQ(name_of(of({output(classification, {1, 1000})})), "classifier");
  EXPECT_EQ(name_of(of({output(auxiliary, {1, 9}), whole_detection})), "yolo_det");
  auto grid = output(detection, {1, 80, 80, 255});
  grid.anchors = {{0.1F, 0.1F}};
  EXPECT_EQ(name_of(of({grid, grid})), "yolo_anchor_det");
}

TEST(Arrangement, of_yolo_knows_what_stands_behind_the_scores) {
  auto pose = of({output(detection, {1, 56, 8400})});
  pose.keypoints = KeypointShape{17, 3};
  EXPECT_EQ(name_of(pose), "yolo_pose_det");
  auto oriented = of({output(detection, {1, 20, 8400})});
  oriented.task = Task::obb;
  EXPECT_EQ(name_of(oriented), "yolo_obb_det");
  pose.outputs[0].shape = {1, 300, 57};
  EXPECT_EQ(name_of(pose), "yolo_end_to_end_pose_det");
  oriented.outputs[0].shape = {1, 300, 7};
  EXPECT_EQ(name_of(oriented), "yolo_end_to_end_obb_det");
}

TEST(Arrangement, of_levels_has_names_of_its_own) {
  auto levels = lone_boxes;
  levels.parts = {{.name = "b8", .role = boxes, .shape = {1, 80, 80, 64}, .stride = Stride{8, 8}}};
  EXPECT_EQ(name_of(of({levels, split_scores})), "yolo_per_scale_det");
  EXPECT_EQ(name_of(of({levels, split_scores}, "yolo26")), "yolo_per_scale_det");
  EXPECT_EQ(name_of(of({levels, split_scores, coefs, protos})), "yolo_per_scale_seg_det");
  EXPECT_EQ(name_of(of({levels, split_scores, output(keypoints, {1, 51, 8400})})),
            "yolo_per_scale_pose_det");
  EXPECT_EQ(name_of(of({levels, split_scores, output(angles, {1, 1, 8400})})),
            "yolo_per_scale_obb_det");
  levels.parts[0].stride = {};
  EXPECT_EQ(name_of(of({levels, split_scores})), "yolo_split_det");
}

TEST(Arrangement, of_final_rows_follows_version_then_names_then_shape) {
  auto named = rows;
  named.axes = {AxisName::batch, AxisName::num_boxes, AxisName::num_features};
  EXPECT_EQ(name_of(of({rows})), "yolo_end_to_end_det");
  EXPECT_EQ(name_of(of({named})), "yolo_end_to_end_det");
  EXPECT_EQ(name_of(of({rows}, "yolo26")), "yolo_end_to_end_det");
  EXPECT_EQ(name_of(of({named}, "yolo26")), "yolo_end_to_end_det");
  EXPECT_EQ(name_of(of({named}, "yolov8")), "yolo_det") << "a version wins over names";
  EXPECT_EQ(name_of(of({rows}, "yolo11")), "yolo_det");
  EXPECT_EQ(name_of(of({output(detection, {1, 300, 38}), protos})), "yolo_end_to_end_seg_det");
  EXPECT_EQ(name_of(of({output(detection, {1, 6, 300})})), "yolo_det") << "features first";
  EXPECT_EQ(name_of(of({output(detection, {1, 6, 300})}, "yolo26")), "yolo_end_to_end_det");
  EXPECT_EQ(name_of(of({output(detection, {1, 8400, 6})})), "yolo_det") << "too many rows";
  named.shape = {1, 8400, 84};
  EXPECT_EQ(name_of(of({named})), "yolo_det") << "no rows of 6";
  expect_wrong(arrangement_of(of({whole_detection}, "yolo26")),
               "[1, 116, 8400], no axis of 6 features; set decoder_version to yolo11");
}

TEST(Arrangement, of_rows_of_6_with_two_labels_is_ambiguous_where_names_say_rows) {
  auto named = rows;
  named.axes = {AxisName::batch, AxisName::num_boxes, AxisName::num_features};
  auto d = of({named});
  d.labels = {"boat", "buoy"};
  expect_wrong(arrangement_of(d), "set decoder_version: [1, 300, 6], 2 labels");
  d.outputs[0].axes.clear();
  EXPECT_EQ(name_of(d), "yolo_det");
  d.decoder_version = "yolo26";
  EXPECT_EQ(name_of(d), "yolo_end_to_end_det");
}

TEST(Arrangement, of_modelpack_follows_the_roles) {
  const auto pack = [](OutputRole role, std::vector<std::size_t> shape) {
    return output(role, std::move(shape), Family::modelpack);
  };
  const auto grid = pack(detection, {1, 9, 15, 18});
  const auto map = pack(segmentation, {1, 90, 150, 3});
  const auto flat = pack(boxes, {1, 900, 1, 4});
  const auto flat_scores = pack(scores, {1, 900, 2});
  EXPECT_EQ(name_of(of({grid, grid})), "modelpack_det_split");
  EXPECT_EQ(name_of(of({flat, flat_scores})), "modelpack_det");
  EXPECT_EQ(name_of(of({map})), "modelpack_seg");
  EXPECT_EQ(name_of(of({map, pack(class_map, {1, 90, 150})})), "modelpack_seg")
      << "masks count not";
  EXPECT_EQ(name_of(of({flat, flat_scores, map})), "modelpack_seg_det");
  EXPECT_EQ(name_of(of({grid, map})), "modelpack_seg_det_split");
  for (const OutputRole role : {prototypes, mask_coefficients, classes})
    expect_refusal(arrangement_of(of({flat, flat_scores, pack(role, {1, 9, 900})})),
                   Errc::unsupported, "decoder modelpack");
}

TEST(Arrangement, of_other_families_is_named_after_them) {
  const auto outputs = [](Family family, std::initializer_list<OutputRole> roles) {
    std::vector<OutputDescription> out;
    for (const OutputRole role : roles)
      out.push_back(output(role, {1, 4, 9}, family));
    return of(std::move(out));
  };
  EXPECT_EQ(name_of(outputs(Family::ssd, {boxes, scores, priors})), "ssd_det");
  EXPECT_EQ(name_of(outputs(Family::nanodet, {detection})), "nanodet_det");
  EXPECT_EQ(name_of(outputs(Family::detr, {scores, boxes})), "detr_det");
  EXPECT_EQ(name_of(outputs(Family::semantic, {segmentation})), "semantic_seg");
  EXPECT_EQ(name_of(outputs(Family::semantic, {class_map})), "semantic_seg");
  for (const Family family : {Family::ssd, Family::nanodet, Family::detr, Family::semantic})
    expect_refusal(arrangement_of(outputs(family, {angles})), Errc::unsupported,
                   "angles [1, 4, 9]");
}

TEST(Arrangement, refuses_what_does_not_go_together) {
  expect_wrong(arrangement_of(of({})), "no output to decode: 0 outputs");
  expect_wrong(arrangement_of(of({output(auxiliary, {1})})), "1 outputs, all auxiliary");
  expect_wrong(
      arrangement_of(of({whole_detection, output(segmentation, {1, 9, 9, 3}, Family::modelpack)})),
      "one family of networks: outputs[1].decoder: modelpack, outputs[0] is ultralytics");
  expect_refusal(arrangement_of(of({lone_boxes})), Errc::unsupported,
                 "decoder ultralytics: boxes [1, 4, 8400]; known: boxes and scores");
  expect_refusal(arrangement_of(of({whole_detection, whole_detection})), Errc::unsupported,
                 "one detection");
  expect_refusal(arrangement_of(of({whole_detection, coefs})), Errc::unsupported,
                 "detection, protos");
  expect_refusal(arrangement_of(of({output(segmentation, {1, 9, 9, 3})})), Errc::unsupported,
                 "segmentation");
}

}  // namespace
}  // namespace halyard::test
