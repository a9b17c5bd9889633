// SPDX-License-Identifier: Apache-2.0
// The list itself.
#include "decode/head_layouts.h"

namespace halyard::test {
namespace {

using enum Order;
using enum OutputRole;

HeadLayout centres_and_extents() {
  HeadLayout out =
      begin("YOLO split", "centres `[1, 2, N]`, extents `[1, 2, N]`, scores `[1, C, N]`");
  OutputDescription whole = output_of(boxes, {1, 4, layout_boxes}, BoxUnits::fraction);
  whole.parts = {flat(out, boxes_xy, {{Part::boxes, 2}}, features_first),
                 flat(out, boxes_wh, {{Part::sizes, 2}}, features_first)};
  for (OutputDescription& part : whole.parts)
    part.box_units = {};
  out.description.outputs = {whole, flat(out, scores, {class_scores}, features_first)};
  return out;
}

HeadLayout yolov5(HeadLayout layout) {
  layout.description.outputs[0].score_format = ScoreFormat::obj_x_class;
  return layout;
}

HeadLayout ssd() {
  HeadLayout out = split("SSD", "offsets `[1, N, 4]`, scores `[1, N, 1 + C]`, priors `[N, 4]`",
                         {{boxes, four}, {scores, {Part::scores, 1 + layout_classes}}}, boxes_first,
                         Family::ssd);
  out.coding = Coded::prior;
  out.activation = Activation::softmax;
  out.has_background = true;
  out.description.outputs[1].activation = Activation::softmax;
  StoredTensor table{"", {layout_boxes, 4}, {{Part::priors, 4}}, {0}, boxes_first, 1, false};
  out.description.outputs.push_back(leaf(out, priors, std::move(table)));
  out.description.outputs.back().family = Family::ssd;
  out.description.outputs.back().box_units = {};
  return out;
}

HeadLayout nanodet() {
  HeadLayout out = begin("NanoDet", "`[1, N, C + 4 R]`, levels one after the other");
  out.levels = {{12, 8, 1, 8, 8}, {6, 4, 1, 16, 16}};
  out.coding = Coded::bins;
  const Blocks blocks{class_scores, {Part::boxes, 4 * layout_bins}};
  StoredTensor tensor{"", {1, 120, features_of(blocks)}, blocks, {0, 1}, boxes_first, 2};
  auto output = leaf(out, detection, std::move(tensor));
  output.family = Family::nanodet;
  output.strides = {8, 16};
  output.encoding = BoxEncoding::dfl;
  output.box_units = {};
  out.description.labels = {"a", "b", "c"};
  out.description.outputs = {std::move(output)};
  return out;
}

HeadLayout detr(bool is_split) {
  if (!is_split) {
    HeadLayout out = combined("RT-DETR", "`[1, N, 4 + C]`", {four, class_scores}, boxes_first);
    out.description.outputs[0].family = Family::detr;
    return out;
  }
  HeadLayout out = split("RT-DETR", "boxes `[1, N, 4]`, logits `[1, N, C]`",
                         {split_boxes, split_scores}, boxes_first, Family::detr);
  out.activation = out.description.outputs[1].activation = Activation::sigmoid;
  return out;
}

void add_map(HeadLayout& layout) {
  layout.description.outputs.push_back(
      leaf(layout, segmentation, {"", {1, 12, 8, layout_classes + 1}, {}, {}, boxes_first, 3}));
  layout.description.outputs.back().family = Family::modelpack;
  layout.description.outputs.back().box_units = {};
}

HeadLayout modelpack(bool has_map) {
  HeadLayout out = begin("ModelPack", has_map ? "boxes, scores and class scores `[1, H, W, 1 + C]`"
                                              : "boxes `[1, N, 1, 4]`, scores `[1, N, C]`");
  out.coding = Coded::corners;
  StoredTensor corners{"", {1, layout_boxes, 1, 4}, {four}, {0}, boxes_first, 3};
  out.description.outputs = {leaf(out, boxes, std::move(corners)),
                             flat(out, scores, {class_scores}, boxes_first)};
  for (OutputDescription& output : out.description.outputs)
    output.family = Family::modelpack;
  if (has_map) add_map(out);
  return out;
}

HeadLayout modelpack_grids_and_map() {
  HeadLayout out = grids("ModelPack", "grids and class scores `[1, H, W, 1 + C]`", boxes_first,
                         Family::modelpack);
  add_map(out);
  return out;
}

HeadLayout classifier() {
  HeadLayout out = begin("classes of the image", "`[1, C]`", 1);
  StoredTensor tensor{"", {1, 9}, {{Part::scores, 9}}, {0}, boxes_first, 1};
  out.description.outputs = {leaf(out, classification, std::move(tensor))};
  out.description.outputs[0].box_units = {};
  return out;
}

void add_yolo(std::vector<HeadLayout>& out) {
  const Blocks plain{four, class_scores};
  out.push_back(combined("YOLOv8, 11", "`[1, 4 + C, N]`", plain, features_first));
  out.push_back(combined("YOLOv8, 11", "`[1, N, 4 + C]`", plain, boxes_first));
  const Blocks five{four, objectness_of_one, class_scores};
  out.push_back(yolov5(combined("YOLOv5", "`[1, N, 5 + C]`", five, boxes_first, "yolov5")));
  out.push_back(yolov5(combined("YOLOv5", "`[1, 5 + C, N]`", five, features_first, "yolov5")));
  out.push_back(
      yolov5(combined("YOLOv5 masks", "`[1, N, 5 + C + K]`, prototypes `[1, H, W, K]`",
                      {four, objectness_of_one, class_scores, mask_row}, boxes_first, "yolov5")));
  out.push_back(grids("YOLOv5 grids", "`[1, H, W, A (5 + C)]`", boxes_first, Family::ultralytics));
  out.push_back(
      grids("YOLOv5 grids", "`[1, A (5 + C), H, W]`", features_first, Family::ultralytics));
  out.push_back(grids("YOLOv5 grids", "`[1, A, H, W, 5 + C]`", anchors_first, Family::ultralytics));
  out.push_back(combined("YOLO masks", "`[1, 4 + C + K, N]`, prototypes `[1, K, H, W]`",
                         {four, class_scores, mask_row}, features_first));
  out.push_back(combined("YOLO masks", "`[1, N, 4 + C + K]`, prototypes `[1, H, W, K]`",
                         {four, class_scores, mask_row}, boxes_first));
  out.push_back(combined("YOLO poses", "`[1, 4 + C + 3 P, N]`", {four, class_scores, points_of_one},
                         features_first));
  out.push_back(combined("YOLO rotated boxes", "`[1, 4 + C + 1, N]`",
                         {four, class_scores, angle_of_one}, features_first));
}

void add_split(std::vector<HeadLayout>& out) {
  out.push_back(split("YOLO split", "boxes `[1, 4, N]`, scores `[1, C, N]`",
                      {split_boxes, split_scores}, features_first));
  out.push_back(split("YOLO split", "boxes `[1, N, 4]`, scores `[1, N, C]`",
                      {split_boxes, split_scores}, boxes_first));
  out.push_back(centres_and_extents());
  out.push_back(split("YOLO split", "the same, and objectness `[1, 1, N]`",
                      {split_boxes, split_scores, split_objectness}, features_first));
  out.push_back(split("YOLO split masks", "coefficients `[1, K, N]`, prototypes `[1, K, H, W]`",
                      {split_boxes, split_scores, split_masks}, features_first));
  HeadLayout two = split("YOLO split masks", "detection `[1, 4 + C, N]`, coefficients `[1, K, N]`",
                         {}, features_first);
  two.description.outputs = {flat(two, detection, {four, class_scores}, features_first),
                             flat(two, mask_coefficients, {mask_row}, features_first)};
  add_prototypes(two, false);
  out.push_back(std::move(two));
  out.push_back(split("YOLO split poses", "keypoints `[1, 3 P, N]`",
                      {split_boxes, split_scores, split_points}, features_first));
  out.push_back(split("YOLO split rotated boxes", "angles `[1, 1, N]`",
                      {split_boxes, split_scores, split_angle}, features_first));
}

void add_levels(std::vector<HeadLayout>& out) {
  const std::vector<Stride> usual{{8, 8}, {16, 16}};
  out.push_back(by_levels("YOLO by levels", "DFL `[1, H, W, 4 R]`", Coded::bins, false, usual));
  out.push_back(by_levels("YOLO by levels", "DFL `[1, 4 R, H, W]`", Coded::bins, true, usual));
  out.push_back(
      by_levels("YOLO by levels", "distances `[1, H, W, 4]`", Coded::distances, false, usual));
  out.push_back(
      by_levels("YOLO by levels", "distances `[1, 4, H, W]`", Coded::distances, true, usual));
  out.push_back(by_levels("YOLO by levels", "three strides, one of them 4 x 8", Coded::distances,
                          false, {{4, 8}, {16, 16}, {32, 32}}));
  out.push_back(by_levels("YOLO masks by levels", "coefficients `[1, H, W, K]`", Coded::bins, false,
                          usual, {split_masks}));
  out.push_back(by_levels("YOLO poses by levels", "keypoints `[1, H, W, 3 P]`", Coded::bins, false,
                          usual, {split_points}));
  out.push_back(by_levels("YOLO rotated boxes by levels", "angles `[1, H, W, 1]`", Coded::bins,
                          false, usual, {split_angle}));
}

void add_rows(std::vector<HeadLayout>& out) {
  const RoleOf best{scores, {Part::scores, 1}}, label{classes, {Part::classes, 1}};
  out.push_back(end_to_end("YOLO26", "`[1, N, 6]`", {}));
  out.push_back(end_to_end("YOLO26 masks", "`[1, N, 6 + K]`, prototypes", {mask_row}));
  out.push_back(end_to_end("YOLO26 poses", "`[1, N, 6 + 3 P]`", {points_of_one}));
  out.push_back(end_to_end("YOLO26 rotated boxes", "`[1, N, 7]`", {angle_of_one}));
  out.push_back(split("YOLO26 split", "boxes `[1, N, 4]`, scores and classes `[1, N, 1]`",
                      {split_boxes, best, label}, boxes_first));
  out.push_back(split("YOLO26 split masks", "the same, coefficients, prototypes",
                      {split_boxes, best, label, split_masks}, boxes_first));
}

}  // namespace

std::vector<HeadLayout> head_layouts() {
  std::vector<HeadLayout> out;
  add_yolo(out);
  add_split(out);
  add_levels(out);
  add_rows(out);
  out.push_back(modelpack(false));
  out.push_back(grids("ModelPack", "grids `[1, H, W, A (5 + C)]`", boxes_first, Family::modelpack));
  out.push_back(
      grids("ModelPack", "grids `[1, A (5 + C), H, W]`", features_first, Family::modelpack));
  out.push_back(modelpack(true));
  out.push_back(modelpack_grids_and_map());
  out.push_back(ssd());
  out.push_back(nanodet());
  out.push_back(detr(false));
  out.push_back(detr(true));
  out.push_back(classifier());
  return out;
}

}  // namespace halyard::test
