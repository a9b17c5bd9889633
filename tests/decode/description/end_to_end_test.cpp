// SPDX-License-Identifier: Apache-2.0
// Rows of suppressed boxes and two-class detections have one shape: what is decoded is what
// arrangement_of() says, by version, names and shape.
#include <gtest/gtest.h>

#include <string>

#include "decode/head/heads.h"
#include "decode/tensors.h"

namespace halyard::test {
namespace {

using enum AxisName;

ModelDescription detection(std::vector<std::size_t> shape, std::vector<AxisName> axes = {}) {
  auto output = output_of(OutputRole::detection, std::move(shape));
  output.axes = std::move(axes);
  return model_of({640, 640}, {output});
}

// Whether rows are decoded; the classes of a head are counted, a row tells an index only.
bool holds_rows(const ModelDescription& description) {
  const auto decoder = Decoder::create(description);
  EXPECT_TRUE(decoder) << decoder.error().message();
  const auto arrangement = arrangement_of(description);
  EXPECT_TRUE(arrangement) << arrangement.error().message();
  const bool is_named =
      std::string(to_string(*arrangement)).find("end_to_end") != std::string::npos;
  const bool is_decoded = decoder && decoder->class_count() == 0;
  EXPECT_EQ(is_named, is_decoded);
  return is_decoded;
}

TEST(FinalRows, by_names_may_be_more_than_a_shape_alone_says) {
  EXPECT_TRUE(holds_rows(detection({1, 8400, 6}, {batch, num_boxes, num_features})));
  EXPECT_FALSE(holds_rows(detection({1, 6, 8400}, {batch, num_features, num_boxes})));
  EXPECT_TRUE(holds_rows(detection({1, 300, 6})));
  EXPECT_FALSE(holds_rows(detection({1, 301, 6})));
}

TEST(FinalRows, with_two_labels_need_a_version_where_names_say_rows) {
  auto description = detection({1, 300, 6}, {batch, num_boxes, num_features});
  description.labels = {"boat", "buoy"};
  EXPECT_FAILS(Decoder::create(description), "set decoder_version: [1, 300, 6]");
  description.decoder_version = "yolo26";
  EXPECT_TRUE(holds_rows(description));
  description.decoder_version = "yolov8";
  EXPECT_FALSE(holds_rows(description));
}

TEST(FinalRows, are_none_where_the_scores_are_said_to_be_of_classes) {
  auto description = detection({1, 300, 6});
  description.outputs[0].score_format = ScoreFormat::per_class;
  EXPECT_FALSE(holds_rows(description));
}

TEST(FinalRows, may_be_fewer_than_features_where_the_version_says_so) {
  std::vector<float> values(5 * 6);
  const std::vector<float> row{10, 20, 30, 40, 0.9F, 7};
  std::copy(row.begin(), row.end(), values.begin() + 6);
  for (const bool has_batch : {true, false}) {
    const std::vector<std::size_t> shape =
        has_batch ? std::vector<std::size_t>{1, 5, 6} : std::vector<std::size_t>{5, 6};
    auto description = detection(shape);
    EXPECT_FALSE(holds_rows(description)) << "the shorter axis has the features";
    description.decoder_version = "yolo26";
    EXPECT_TRUE(holds_rows(description));
    const auto out = decode_all(description, {tensor_of<float>(shape, values)});
    ASSERT_EQ(out.detections.size(), 1U);
    EXPECT_EQ(out.detections[0].box, (Box{10, 20, 30, 40}));
    EXPECT_EQ(out.detections[0].label, 7);
    EXPECT_EQ(out.detections[0].anchor, 1);
  }
}

TEST(FinalRows, in_tensors_of_their_own_are_not_suppressed) {
  auto description = model_of({64, 64}, {output_of(OutputRole::boxes, {1, 3, 4}),
                                         output_of(OutputRole::scores, {1, 3, 1})});
  description.outputs[0].axes = {batch, num_boxes, AxisName::box_coords};
  description.outputs[1].axes = {batch, num_boxes, AxisName::num_classes};
  const std::vector<Tensor> tensors{
      tensor_of<float>({1, 3, 4}, {20, 20, 30, 30, 20, 20, 30, 31, 5, 5, 8, 8}),
      tensor_of<float>({1, 3, 1}, {0.9F, 0.8F, 0.1F})};
  EXPECT_EQ(decode_all(description, tensors).detections.size(), 1U);
  description.decoder_version = "yolo26";
  EXPECT_EQ(decode_all(description, tensors).detections.size(), 2U);
  description.decoder_version.clear();
  for (OutputDescription& output : description.outputs)
    output.family = Family::detr;
  EXPECT_EQ(decode_all(description, tensors).detections.size(), 2U);
}

TEST(FinalRows, need_no_batch) {
  EXPECT_TRUE(holds_rows(detection({300, 6})));
}

TEST(FinalRows, are_none_where_labels_tell_the_features) {
  auto description = detection({1, 300, 6});
  description.labels.assign(296, "boat");
  EXPECT_FALSE(holds_rows(description)) << "296 classes of 6 boxes";
}

TEST(FinalRows, are_as_wide_as_the_prototypes_that_the_inputs_proportions_tell) {
  auto description = detection({1, 300, 6 + 64});
  description.input = {640, 320};
  description.outputs.push_back(output_of(OutputRole::prototypes, {1, 20, 40, 64}));
  EXPECT_TRUE(holds_rows(description)) << "64 prototypes, though 20 is less";
}

TEST(LevelsOfOneTensor, hold_objectness_and_angles_too) {
  // Two levels of 2 x 2 and 1 x 1 cells; each box has an objectness and an angle of its own.
  auto description = model_of({16, 16}, {output_of(OutputRole::detection, {1, 5, 7})});
  description.task = Task::obb;
  description.outputs[0].axes = {batch, num_boxes, num_features};
  description.outputs[0].score_format = ScoreFormat::obj_x_class;
  std::vector<float> values;
  for (int i = 0; i < 5; ++i) {
    const float x = 10.0F * static_cast<float>(i);
    values.insert(values.end(), {x, 5, 4, 2, i == 4 ? 1.0F : 0.0F, 0.9F, 0.1F * x});
  }
  const std::vector<Tensor> tensors{tensor_of<float>({1, 5, 7}, values)};
  const auto flat = decode_all(description, tensors);
  description.outputs[0].strides = {8, 16};
  const auto levels = decode_all(description, tensors);
  ASSERT_EQ(flat.detections.size(), 1U);
  EXPECT_EQ(flat.detections[0].anchor, 4);
  EXPECT_EQ(levels.detections, flat.detections);
  EXPECT_EQ(levels.rotated, flat.rotated);
}

}  // namespace
}  // namespace halyard::test
