// SPDX-License-Identifier: Apache-2.0
// Descriptions from what model files say about themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "decode/description/documents.h"
#include "decode/head/extras.h"
#include "decode/nms/selector.h"
#include "halyard/describe.h"

namespace halyard::test {
namespace {

ModelMetadata metadata(std::vector<std::vector<std::size_t>> shapes, Size input = {640, 640}) {
  ModelMetadata out;
  out.file = "model.onnx";
  out.format = ModelFormat::onnx;
  for (auto& shape : shapes)
    out.outputs.push_back({.name = "output" + std::to_string(out.outputs.size()),
                           .dtype = DType::f32,
                           .shape = std::move(shape),
                           .quantization = {},
                           .format = {}});
  if (input != Size{}) {
    const auto side = [](std::int32_t value) { return static_cast<std::size_t>(value); };
    out.inputs.push_back({.name = "images",
                          .dtype = DType::f32,
                          .shape = {1, 3, side(input.height), side(input.width)},
                          .quantization = {},
                          .format = PixelFormat::planar_rgb});
  }
  return out;
}

// "{0: 'c0', 1: 'c1'}", or with the quotes of JSON about both.
std::string names(std::size_t count, bool is_json = false) {
  const char quote = is_json ? '"' : '\'';
  std::string out = "{";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string index = std::to_string(i);
    if (i != 0) out += ", ";
    if (is_json) out += quote;
    out += index;
    if (is_json) out += quote;
    out += ": ";
    out += quote;
    out += 'c';
    out += index;
    out += quote;
  }
  return out += '}';
}

std::string arrangement(const ModelMetadata& from) {
  const auto d = infer_description(from);
  if (!d) return d.error().message();
  const auto found = arrangement_of(*d);
  return found ? std::string(to_string(*found)) : found.error().message();
}

std::string source_of(const ModelDescription& d, const std::string& field) {
  for (const Origin& origin : d.origins)
    if (origin.field == field) return origin.source;
  return "";
}

TEST(Infer, ultralytics_detection_says_where_each_value_came_from) {
  auto from = metadata({{1, 84, 8400}});
  from.metadata = {{"task", "detect"},
                   {"names", names(80)},
                   {"imgsz", "[640, 640]"},
                   {"description", "Ultralytics YOLO11n model trained on coco.yaml"}};
  ASSERT_VALUE(const auto d, infer_description(from));
  EXPECT_EQ(d.labels.size(), 80U);
  EXPECT_EQ(d.input, (Size{640, 640}));
  EXPECT_EQ(d.decoder_version, "yolo11");
  EXPECT_EQ(d.outputs[0].axes[1], AxisName::num_features);
  EXPECT_EQ(d.outputs[0].box_units, BoxUnits::pixels);
  EXPECT_EQ(source_of(d, "labels"), "metadata \"names\" of model.onnx");
  EXPECT_EQ(source_of(d, "input"), "shape of the input \"images\"");
  EXPECT_EQ(source_of(d, "decoder_version"), "metadata \"description\" of model.onnx");
  EXPECT_EQ(source_of(d, "outputs[0].normalized"), "default of ONNX and OpenVINO files");
  EXPECT_EQ(source_of(d, "outputs[0].type"), "metadata \"task\" of model.onnx");
  EXPECT_EQ(source_of(d, "outputs[0].dshape"),
            "shape of \"output0\" [1, 84, 8400]: 84 features, 8400 boxes");
  EXPECT_TRUE(d.warnings.empty());
}

TEST(Infer, units_follow_metadata_then_the_kind_of_file) {
  auto from = metadata({{1, 84, 8400}});
  from.format = ModelFormat::tflite;
  EXPECT_EQ(infer_description(from)->outputs[0].box_units, BoxUnits::fraction);
  from.metadata["box_units"] = "pixels";
  EXPECT_EQ(infer_description(from)->outputs[0].box_units, BoxUnits::pixels);
  from.metadata["box_units"] = "inches";
  EXPECT_EQ(infer_description(from)->outputs[0].box_units, BoxUnits::fraction);
  EXPECT_EQ(infer_description(from)->warnings.size(), 1U);
  from = metadata({{1, 84, 8400}});
  from.format = ModelFormat::unknown;
  EXPECT_FALSE(infer_description(from)->outputs[0].box_units);
}

TEST(Infer, both_memory_orders_and_objectness_follow_labels_and_cells) {
  const auto reading = [](ModelMetadata from) {
    const auto d = infer_description(from);
    EXPECT_TRUE(d) << d.error().message();
    if (!d) return std::string();
    const auto axis = d->outputs[0].axes[1];
    return d->decoder_version + (axis == AxisName::num_boxes ? " boxes" : " features");
  };
  EXPECT_EQ(reading(metadata({{1, 84, 8400}})), "yolov8 features");
  EXPECT_EQ(reading(metadata({{1, 8400, 84}})), "yolov8 boxes");
  EXPECT_EQ(reading(metadata({{1, 25200, 85}})), "yolov5 boxes") << "three boxes a cell";
  auto few = metadata({{1, 25200, 85}}, {});
  few.metadata["names"] = names(80);
  EXPECT_EQ(reading(few), "yolov5 boxes") << "80 labels, 85 features";
  few.metadata["names"] = names(81);
  EXPECT_EQ(reading(few), "yolov8 boxes") << "81 labels, 85 features";
  EXPECT_EQ(reading(metadata({{1, 300, 6}})), "yolo26 boxes");
  auto two = metadata({{1, 8400, 6}});
  two.metadata["names"] = names(2);
  EXPECT_EQ(reading(two), "yolov8 boxes") << "a box for each cell";
  two = metadata({{1, 300, 6}});
  two.metadata["names"] = names(2);
  EXPECT_EQ(reading(two), "yolo26 boxes") << "no box for each cell";
  two = metadata({{1, 1029, 84}}, {224, 224});
  EXPECT_EQ(reading(two), "yolov8 boxes");
}

TEST(Infer, suppression_inside_follows_metadata) {
  auto from = metadata({{1, 300, 6}});
  from.metadata = {{"names", names(80)}, {"end2end", "True"}};
  ASSERT_VALUE(auto d, infer_description(from));
  EXPECT_EQ(d.decoder_version, "yolo26");
  EXPECT_EQ(d.nms, Nms::none);
  EXPECT_EQ(source_of(d, "decoder_version"), "metadata \"end2end\" of model.onnx");
  from = metadata({{1, 500, 6}});
  from.metadata = {{"names", names(80)}, {"args", "{'batch': 1, 'nms': True}"}};
  EXPECT_EQ(arrangement(from), "yolo_end_to_end_det") << "more rows than without metadata";
  from = metadata({{1, 84, 8400}});
  from.metadata = {{"names", names(80)}, {"end2end", "False"}, {"description", "YOLO26n"}};
  EXPECT_EQ(arrangement(from), "yolo_det");
  from.metadata["end2end"] = "True";
  expect_wrong(infer_description(from), "80 given (metadata \"names\" of model.onnx)");
}

TEST(Infer, other_tasks_of_ultralytics) {
  auto seg = metadata({{1, 116, 8400}, {1, 32, 160, 160}});
  seg.metadata = {{"task", "segment"}, {"names", names(80)}};
  EXPECT_EQ(arrangement(seg), "yolo_seg_det");
  EXPECT_EQ(infer_description(seg)->outputs[1].axes[1], AxisName::num_protos);
  std::swap(seg.outputs[0], seg.outputs[1]);
  seg.outputs[0].shape = {1, 160, 160, 32};
  EXPECT_EQ(arrangement(seg), "yolo_seg_det");
  EXPECT_EQ(infer_description(seg)->outputs[0].axes[3], AxisName::num_protos);
  seg.outputs[1].shape = {1, 300, 38};
  EXPECT_EQ(arrangement(seg), "yolo_end_to_end_seg_det");
  auto pose = metadata({{1, 56, 8400}});
  pose.metadata = {{"task", "pose"}, {"names", "{0: 'person'}"}, {"kpt_shape", "[17, 3]"}};
  EXPECT_EQ(arrangement(pose), "yolo_pose_det");
  pose.metadata.erase("kpt_shape");
  expect_refusal(infer_description(pose), Errc::unsupported, "a pose needs kpt_shape");
  auto rotated = metadata({{1, 20, 8400}});
  rotated.metadata = {{"task", "obb"}, {"names", names(15)}};
  EXPECT_EQ(arrangement(rotated), "yolo_obb_det");
  auto whole = metadata({{1, 1000}}, {224, 224});
  whole.metadata = {{"task", "classify"}, {"names", names(1000)}};
  EXPECT_EQ(arrangement(whole), "classifier");
  whole.metadata["names"] = names(10);
  expect_wrong(infer_description(whole), "10 given (metadata \"names\" of model.onnx), output");
  whole.outputs[0].shape.clear();
  expect_refusal(infer_description(whole), Errc::unsupported, "an axis of classes");
}

TEST(Infer, contradictions_name_both_sides) {
  auto from = metadata({{1, 84, 8400}});
  from.metadata["names"] = names(10);
  expect_wrong(infer_description(from),
               "10 given (metadata \"names\" of model.onnx), output \"output0\" [1, 84, 8400] has "
               "no axis of 14, 15 or 6 features");
  from.metadata["names"] = names(79);
  expect_wrong(infer_description(from), "79 given");  // 84 are not 5 + 79: one box a cell
  from.attachments = {{.name = "edgefirst.json",
                       .text = R"({"outputs": [{"type": "detection", "shape": [1, 7, 8400]}]})",
                       .is_embedded = true}};
  expect_wrong(
      infer_description(from),
      "outputs[0] of edgefirst.json in model.onnx: [1, 7, 8400]; the model has \"output0\" "
      "[1, 84, 8400]");
  from.attachments[0].text = R"({"input": {"shape": [1, 320, 320, 3]},
                                 "outputs": [{"type": "detection", "shape": [1, 84, 8400]}]})";
  expect_wrong(infer_description(from),
               "320 x 320 in edgefirst.json in model.onnx, 640 x 640 (shape of the input");
}

TEST(Infer, documents_come_first_and_the_rest_completes_them) {
  const std::string document = R"({"outputs": [{"type": "detection", "shape": [1, 84, 8400],
                                   "dshape": [["batch", 1], ["num_features", 84],
                                              ["num_boxes", 8400]], "normalized": true}]})";
  auto from = metadata({{1, 84, 8400}});
  from.metadata["names"] = names(80);
  from.attachments = {{.name = "model.json", .text = R"({"author": 1})"},
                      {.name = "edgefirst.json", .text = document}};
  auto d = infer_description(from);
  ASSERT_TRUE(d) << d.error().message();
  EXPECT_EQ(d->outputs[0].box_units, BoxUnits::fraction);
  EXPECT_EQ(d->labels.size(), 80U);
  EXPECT_EQ(source_of(*d, "outputs"), "edgefirst.json beside model.onnx");
  EXPECT_EQ(source_of(*d, "labels"), "metadata \"names\" of model.onnx");
  from.attachments[1] = {.name = "edgefirst.yaml", .text = "outputs: [", .is_embedded = true};
  expect_refusal(infer_description(from), Errc::malformed, "edgefirst.yaml in model.onnx: YAML");
  from.attachments.pop_back();
  d = infer_description(from);
  ASSERT_TRUE(d) << d.error().message();
  EXPECT_EQ(d->warnings[0], "model.json: describes no outputs, ignored");
  from.attachments[0].text = document;
  EXPECT_EQ(source_of(*infer_description(from), "outputs"), "model.json beside model.onnx");
  from.attachments[0].name = "other.json";
  EXPECT_EQ(source_of(*infer_description(from), "outputs"), "");
}

TEST(Infer, what_completes_a_document_is_held_to_the_rules) {
  auto from = metadata({{1, 9, 8400}});
  from.attachments = {{.name = "edgefirst.json",
                       .text = R"({"outputs": [{"type": "detection", "shape": [1, 9, 8400],
                                   "dshape": [["batch", 1], ["num_features", 9],
                                              ["num_boxes", 8400]]}]})"}};
  EXPECT_TRUE(infer_description(from));
  from.metadata["kpt_shape"] = "[17, 3]";
  expect_wrong(infer_description(from),
               "outputs[0].shape: [1, 9, 8400], features must be at least");
}

TEST(Infer, hugging_face_sidecars) {
  auto from = metadata({{1, 150, 128, 128}}, {});
  const std::string labels = names(150, true);
  from.attachments = {
      {.name = "config.json",
       .text = R"({"architectures": ["SegformerForSemanticSegmentation"], "id2label": )" + labels +
               "}"},
      {.name = "preprocessor_config.json", .text = R"({"size": {"height": 480, "width": 512}})"}};
  ASSERT_VALUE(const auto d, infer_description(from));
  EXPECT_EQ(arrangement(from), "semantic_seg");
  EXPECT_EQ(d.labels.size(), 150U);
  EXPECT_EQ(d.input, (Size{512, 480}));
  EXPECT_EQ(source_of(d, "labels"), "config.json beside model.onnx, \"id2label\"");
  from.outputs[0].shape = {1, 128, 128, 150};
  EXPECT_EQ(infer_description(from)->outputs[0].axes[3], AxisName::num_classes);
  from.outputs[0].shape = {1, 19, 128, 128};
  expect_wrong(infer_description(from), "150 given");
}

TEST(Infer, transformers_have_logits_and_boxes) {
  auto from = metadata({{1, 300, 80}, {1, 300, 4}});
  from.outputs[0].name = "logits";
  from.outputs[1].name = "pred_boxes";
  from.attachments = {{.name = "config.json", .text = R"({"model_type": "rt_detr",
                                   "architectures": ["RTDetrForObjectDetection"]})"}};
  ASSERT_VALUE(const auto d, infer_description(from));
  EXPECT_EQ(arrangement(from), "detr_det");
  EXPECT_EQ(d.outputs[0].activation, Activation::sigmoid);
  EXPECT_EQ(d.outputs[1].box_units, BoxUnits::fraction);
  from.attachments[0].text =
      R"({"model_type": "detr", "architectures": ["DetrForObjectDetection"]})";
  expect_refusal(infer_description(from), Errc::unsupported, "no object");
}

TEST(Infer, labels_of_a_text_file_come_last) {
  auto from = metadata({{1, 6, 8400}});
  from.attachments = {{.name = "labels.txt", .text = "boat\r\nbuoy\n\n", .is_embedded = true}};
  ASSERT_VALUE(const auto d, infer_description(from));
  EXPECT_EQ(d.labels, (std::vector<std::string>{"boat", "buoy"}));
  EXPECT_EQ(source_of(d, "labels"), "labels.txt in model.onnx");
}

TEST(Infer, outputs_of_no_known_kind_are_refused_with_their_shapes) {
  expect_refusal(infer_description(metadata({})), Errc::unsupported, "shapes seen: none");
  expect_refusal(infer_description(metadata({{1, 80, 80, 255}, {1, 40, 40, 255}})),
                 Errc::unsupported, "\"output0\" [1, 80, 80, 255], \"output1\" [1, 40, 40, 255]");
  expect_refusal(infer_description(metadata({{1, 4, 8400}, {1, 80, 8400}})), Errc::unsupported,
                 "describe them in a document");
  expect_refusal(infer_description(metadata({{1, 2, 3}})), Errc::unsupported, "too few features");
}

TEST(Infer, passes_over_metadata_that_does_not_read) {
  auto from = metadata({{1, 84, 8400}});
  from.metadata = {{"names", "{0"},       {"task", "soup"}, {"imgsz", "[0, 640]"},
                   {"kpt_shape", "[17]"}, {"args", "{"},    {"end2end", "maybe"}};
  from.attachments = {{.name = "config.json", .text = "["}};
  ASSERT_VALUE(const auto d, infer_description(from));
  EXPECT_EQ(d.warnings, (std::vector<std::string>{"metadata \"names\" of model.onnx: ignored",
                                                  "metadata \"task\" of model.onnx: ignored",
                                                  "metadata \"imgsz\" of model.onnx: ignored",
                                                  "metadata \"kpt_shape\" of model.onnx: ignored",
                                                  "config.json beside model.onnx: ignored"}));
}

TEST(Infer, takes_the_size_of_a_free_input_from_metadata_where_it_is_one) {
  const auto read = [](const std::string& imgsz) {
    auto from = metadata({{1, 84, 8400}}, {});
    from.metadata = {{"names", names(80)}, {"imgsz", imgsz}};
    const auto d = infer_description(from);
    EXPECT_TRUE(d) << d.error().message();
    return d ? *d : ModelDescription{};
  };
  EXPECT_EQ(read("[480, 640]").input, (Size{640, 480}));
  EXPECT_EQ(read("320").input, (Size{320, 320}));
  EXPECT_EQ(read("[1, 65536]").input, (Size{65536, 1}));
  for (const char* wrong : {"[0, 640]", "[640, 0]", "0", "[-1, 640]", "[640, 65537]", "[]",
                            "[1, 640, 640]", "[640, 'x']"}) {
    const ModelDescription d = read(wrong);
    EXPECT_EQ(d.input, Size{}) << wrong;
    EXPECT_EQ(d.warnings, std::vector<std::string>{"metadata \"imgsz\" of model.onnx: ignored"})
        << wrong;
  }
}

}  // namespace
}  // namespace halyard::test
