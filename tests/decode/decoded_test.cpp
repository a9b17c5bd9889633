// SPDX-License-Identifier: Apache-2.0
// What a head gives beside upright boxes: rotated boxes, several classes of a box, classes of the
// image; presets of options.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

constexpr float pi = 3.14159265358979F;

TEST(Decoded, to_fractions_divides_everything_that_is_in_pixels) {
  Decoded wide;
  wide.detections = {{{10, 20, 40, 30}, 0.5F, 3}};
  wide.rotated = {{20, 10, 8, 4, 0.25F}};
  wide.keypoints = {{{50, 5}, 0.75F}};
  Decoded square = wide;
  wide.to_fractions({100, 50});
  EXPECT_EQ(wide.detections[0].box, (Box{0.1F, 0.4F, 0.4F, 0.6F}));
  EXPECT_EQ(wide.keypoints[0], (Keypoint{{0.5F, 0.1F}, 0.75F}));
  EXPECT_TRUE(wide.rotated.empty());  // no fraction describes them
  square.to_fractions({80, 80});
  ASSERT_EQ(square.rotated.size(), 1U);
  EXPECT_EQ(square.rotated[0], (RotatedBox{0.25F, 0.125F, 0.1F, 0.05F, 0.25F}));
}

// ---- rotated boxes ----------------------------------------------------------------------------

ModelDescription rotated(std::vector<std::size_t> shape) {
  auto out = model_of({128, 128}, {output_of(OutputRole::detection, std::move(shape))});
  out.task = Task::obb;
  return out;
}

// [1, 4 + 1 + 1, n] from rows of cx, cy, w, h, score, angle.
Tensor rotated_rows(const std::vector<float>& rows) {
  const std::size_t n = rows.size() / 6;
  return tensor_of<float>({1, 6, n}, transposed(rows, n, 6));
}

TEST(RotatedHead, gives_the_box_its_bounds_and_its_angle) {
  const auto out =
      decode_all(rotated({1, 6, 8}), {rotated_rows({60, 50, 20, 10, 0.9F, pi / 2,  //
                                                    1,  1,  1,  1,  0,    0,       //
                                                    1,  1,  1,  1,  0.9F, nan,  // no angle, no box
                                                    1,  1,  -1, 1,  0.9F, 0,    // a negative extent
                                                    1,  1,  1,  1,  nan,  0,    //
                                                    1,  1,  1,  1,  0,    0,    //
                                                    1,  1,  1,  1,  0,    0,    //
                                                    1,  1,  1,  1,  0,    0})});
  ASSERT_EQ(out.detections.size(), 1U);
  ASSERT_EQ(out.rotated.size(), 1U);
  EXPECT_EQ(out.rotated[0], (RotatedBox{60, 50, 20, 10, pi / 2}));
  EXPECT_EQ(out.detections[0].box, bounds(out.rotated[0]));
  EXPECT_NEAR(out.detections[0].box.x1, 55, 1e-4);
  EXPECT_NEAR(out.detections[0].box.y2, 60, 1e-4);
  EXPECT_EQ(out.detections[0].anchor, 0);
}

TEST(RotatedHead, suppresses_by_rotated_boxes_not_by_their_bounds) {
  const float apart = 10 / std::sqrt(2.0F);
  const std::vector<float> rows{60,         60,         60, 6, 0.9F, pi / 4,      //
                                60 + apart, 60 - apart, 60, 6, 0.8F, pi / 4,      // beside it
                                60,         60,         60, 6, 0.7F, 5 * pi / 4,  // itself
                                0,          0,          1,  1, 0,    0,           //
                                0,          0,          1,  1, 0,    0,           //
                                0,          0,          1,  1, 0,    0,           //
                                0,          0,          1,  1, 0,    0};
  const auto out = decode_all(rotated({1, 6, 7}), {rotated_rows(rows)});
  ASSERT_EQ(out.detections.size(), 2U);
  EXPECT_EQ(out.detections[0].anchor, 0);
  EXPECT_EQ(out.detections[1].anchor, 1);
  EXPECT_FLOAT_EQ(out.rotated[1].cx, 60 + apart);
}

TEST(RotatedHead, end_to_end_rows_are_centres_and_extents) {
  auto description = rotated({1, 2, 7});
  description.decoder_version = "yolo26";
  const auto out =
      decode_all(description, {tensor_of<float>({1, 2, 7}, {10, 20, 8, 4, 0.9F, 3, 0,  //
                                                            10, 20, 8, 4, 0.8F, 3, 0})});
  ASSERT_EQ(out.detections.size(), 2U);  // nothing is suppressed
  EXPECT_EQ(out.detections[0].box, (Box{6, 18, 14, 22}));
  EXPECT_EQ(out.detections[0].label, 3);
}

TEST(RotatedHead, of_levels_turns_the_middle_between_the_sides_too) {
  const auto part = [](OutputRole role, std::size_t features) {
    auto whole = output_of(role, {1, features, 2});
    whole.encoding = role == OutputRole::boxes ? std::optional(BoxEncoding::direct) : std::nullopt;
    whole.parts = {output_of(role, {1, 1, 2, features})};
    whole.parts[0].stride = Stride{8, 8};
    whole.parts[0].name = std::string(to_string(role)) + "8";
    whole.parts[0].axes = {AxisName::batch, AxisName::height, AxisName::width,
                           AxisName::num_features};
    return whole;
  };
  auto description = model_of({16, 8}, {part(OutputRole::boxes, 4), part(OutputRole::scores, 3),
                                        part(OutputRole::angles, 1)});
  description.task = Task::obb;
  const float quarter = std::log(3.0F);  // sigmoid of it is 3/4: an angle of pi / 2
  const auto out =
      decode_all(description, {tensor_of<float>({1, 1, 2, 4}, {1, 0, 3, 2, 0, 0, 0, 0}),
                               tensor_of<float>({1, 1, 2, 3}, {0, 0.9F, 0, 0, 0, 0}),
                               tensor_of<float>({1, 1, 2, 1}, {quarter, 0})});
  ASSERT_EQ(out.rotated.size(), 1U);
  // The middle lies (1, 1) from the cell's centre, rotated by a right angle: (-1, 1).
  EXPECT_NEAR(out.rotated[0].cx, (0.5F - 1) * 8, 1e-4);
  EXPECT_NEAR(out.rotated[0].cy, (0.5F + 1) * 8, 1e-4);
  EXPECT_FLOAT_EQ(out.rotated[0].width, 32);
  EXPECT_FLOAT_EQ(out.rotated[0].height, 16);
  EXPECT_NEAR(out.rotated[0].angle, pi / 2, 1e-6);
}

TEST(RotatedHead, heads_without_angles_give_no_rotated_boxes) {
  Decoded out;
  out.rotated.resize(3);
  auto description = model_of({64, 64}, {output_of(OutputRole::detection, {1, 6, 7})});
  const auto decoder = *Decoder::create(description);
  const Tensor tensor = rotated_rows(std::vector<float>(42, 0.5F));
  ASSERT_TRUE(decoder.decode_into({&tensor, 1}, out));
  EXPECT_TRUE(out.rotated.empty());
}

// ---- several classes of one box --------------------------------------------------------------

TEST(MultiLabel, makes_a_detection_of_every_class_that_passes) {
  const auto description = model_of({64, 64}, {output_of(OutputRole::detection, {1, 7, 8})});
  std::vector<float> values(7 * 8, 0);
  for (std::size_t f = 0; f < 4; ++f)
    values[f * 8 + 2] = 20;
  values[4 * 8 + 2] = 0.6F, values[5 * 8 + 2] = 0.2F, values[6 * 8 + 2] = 0.9F;
  const std::vector<Tensor> tensors{tensor_of<float>({1, 7, 8}, values)};
  DecodeOptions options;
  EXPECT_EQ(decode_all(description, tensors, options).detections.size(), 1U);
  options.multi_label = true;
  options.nms = Nms::class_agnostic;  // would let one class take the other
  const auto out = decode_all(description, tensors, options).detections;
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].label, 2);
  EXPECT_EQ(out[1].label, 0);
  EXPECT_EQ(out[1].score, 0.6F);
  EXPECT_EQ(out[0].anchor, out[1].anchor);
  EXPECT_EQ(out[0].box, out[1].box);
  options.class_thresholds = {0.7F, 0.1F, 0.1F};
  const auto by_class = decode_all(description, tensors, options).detections;
  ASSERT_EQ(by_class.size(), 2U);
  EXPECT_EQ(by_class[1].label, 1);
}

TEST(MultiLabel, is_every_score_held_against_the_threshold) {
  constexpr std::size_t classes = 9, boxes = 70;
  std::vector<std::uint8_t> stored((4 + classes) * boxes);
  std::mt19937 random(4);
  for (auto& value : stored)
    value = static_cast<std::uint8_t>(random() % 256);
  const Tensor tensor = quantized_of<std::uint8_t>({1, 4 + classes, boxes}, stored, 1 / 255.0F, 0);
  const DecodeOptions options{
      .score_threshold = 0.6F, .nms = Nms::none, .max_detections = 0, .multi_label = true};
  const auto description =
      model_of({64, 64}, {output_of(OutputRole::detection, {1, 4 + classes, boxes})});
  const auto out = decode_all(description, {tensor}, options).detections;
  std::size_t expected = 0;
  for (std::size_t i = 4 * boxes; i < stored.size(); ++i)
    expected += static_cast<float>(stored[i]) * (1 / 255.0F) >= 0.6F ? 1U : 0U;
  EXPECT_EQ(out.size(), expected);
  for (const Detection& d : out) {
    const auto at = (4 + static_cast<std::size_t>(d.label)) * boxes;
    EXPECT_EQ(d.score,
              static_cast<float>(stored[at + static_cast<std::size_t>(d.anchor)]) * (1 / 255.0F));
  }
}

// ---- presets ---------------------------------------------------------------------------------

TEST(DecodePresets, pass_scores_as_their_pipelines_do) {
  const auto description = model_of({64, 64}, {output_of(OutputRole::detection, {1, 5, 6})});
  std::vector<float> values(5 * 6, 0);
  for (std::size_t b = 0; b < 6; ++b)
    values[b] = 10 * static_cast<float>(b), values[2 * 6 + b] = values[3 * 6 + b] = 4;
  values[4 * 6] = 0.25F, values[4 * 6 + 1] = 0.2500001F, values[4 * 6 + 2] = 0.001F;
  values[4 * 6 + 3] = 0.0010001F, values[4 * 6 + 4] = 0.5F;
  const std::vector<Tensor> tensors{tensor_of<float>({1, 5, 6}, values)};
  const auto count = [&](const DecodeOptions& options) {
    return decode_all(description, tensors, options).detections.size();
  };
  EXPECT_EQ(count(DecodeOptions::ultralytics()), 2U);      // above 0.25
  EXPECT_EQ(count(DecodeOptions::ultralytics_val()), 4U);  // above 0.001
  EXPECT_EQ(count(DecodeOptions::hal()), 1U);              // 0.5 and more
  EXPECT_EQ(DecodeOptions::ultralytics_val().pre_nms_top_k, 30000U);
  EXPECT_TRUE(DecodeOptions::ultralytics_val().multi_label);
  EXPECT_EQ(DecodeOptions::ultralytics().iou_threshold, 0.7F);
  EXPECT_EQ(DecodeOptions::hal().nms, Nms::class_agnostic);
}

// ---- classes of the image ------------------------------------------------------------------

TEST(Classifier, gives_the_best_classes_in_order) {
  const auto description = model_of({8, 8}, {output_of(OutputRole::classification, {1, 7})});
  const std::vector<Tensor> tensors{
      tensor_of<float>({1, 7}, {0.1F, 0.3F, nan, 0.3F, 0.05F, 0.2F, 0})};
  const auto out = decode_all(description, tensors);
  EXPECT_TRUE(out.detections.empty());
  EXPECT_EQ(out.classes,
            (std::vector<ClassScore>{{1, 0.3F}, {3, 0.3F}, {5, 0.2F}, {0, 0.1F}, {4, 0.05F}}));
  const DecodeOptions options{.top_classes = 0};
  EXPECT_EQ(decode_all(description, tensors, options).classes.size(), 6U);
  const auto decoder = *Decoder::create(description);
  EXPECT_EQ(decoder.class_count(), 7U);
  EXPECT_NE(decoder.explain().find("head: classifier"), std::string::npos) << decoder.explain();
}

TEST(Classifier, applies_softmax_to_stored_logits_of_any_layout) {
  for (const auto& shape : {std::vector<std::size_t>{3}, {1, 3}, {1, 3, 1, 1}, {1, 1, 1, 3}}) {
    auto description = model_of({8, 8}, {output_of(OutputRole::classification, shape)});
    description.outputs[0].activation = Activation::softmax;
    const auto out = decode_all(
        description,
        {quantized_of<std::int8_t>(shape, std::vector<std::int8_t>{-10, 10, -30}, 0.1F, -10)});
    ASSERT_EQ(out.classes.size(), 3U);
    EXPECT_EQ(out.classes[0].label, 1);
    const double sum = 1 + std::exp(2.0) + std::exp(-2.0);
    EXPECT_NEAR(out.classes[0].score, std::exp(2.0) / sum, 1e-6);
    EXPECT_NEAR(out.classes[2].score, std::exp(-2.0) / sum, 1e-6);
  }
}

TEST(Classifier, reads_the_batch_element_asked_for_and_refuses_other_shapes) {
  const auto description = model_of({8, 8}, {output_of(OutputRole::classification, {1, 2})});
  const std::vector<Tensor> two{tensor_of<float>({2, 2}, {0.1F, 0.9F, 0.8F, 0.2F})};
  EXPECT_EQ(decode_all(description, two, {}, 1).classes[0], (ClassScore{0, 0.8F}));
  EXPECT_FALSE(
      Decoder::create(model_of({8, 8}, {output_of(OutputRole::classification, {1, 2, 3})})));
  EXPECT_FALSE(Decoder::create(model_of({8, 8}, {output_of(OutputRole::classification, {1, 2}),
                                                 output_of(OutputRole::detection, {1, 6, 9})})));
}

TEST(Decoded, keeps_the_first_rows_of_all_that_it_has) {
  Decoded decoded;
  decoded.detections.resize(3);
  decoded.rotated.resize(3);
  decoded.keypoints_each = 2;
  decoded.keypoints.resize(6);
  decoded.keypoints[3].score = 1;
  decoded.masks.channels = 4;
  decoded.masks.coefficients.resize(12);
  decoded.classes.resize(5);
  decoded.keep_first(2);
  EXPECT_EQ(decoded.detections.size(), 2U);
  EXPECT_EQ(decoded.rotated.size(), 2U);
  ASSERT_EQ(decoded.keypoints.size(), 4U);
  EXPECT_EQ(decoded.keypoints[3].score, 1);
  EXPECT_EQ(decoded.masks.coefficients.size(), 8U);
  EXPECT_TRUE(decoded.masks.stored.empty());
  EXPECT_EQ(decoded.classes.size(), 5U);
}

}  // namespace
}  // namespace halyard::test
