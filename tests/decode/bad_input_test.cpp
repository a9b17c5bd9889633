// SPDX-License-Identifier: Apache-2.0
// Input that no network should give, or no file hold: the message names the output, the field and
// what was expected, or nothing comes out.
#include <gtest/gtest.h>

#include <limits>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t bad_boxes = 40;

// Boxes side by side and one score for all.
Tensor head_of(float score) {
  std::vector<float> values(6 * bad_boxes, 8);
  for (std::size_t i = 0; i < bad_boxes; ++i) {
    values[i] = 10 * static_cast<float>(i) + 5;
    values[4 * bad_boxes + i] = values[5 * bad_boxes + i] = score;
  }
  return tensor_of<float>({1, 6, bad_boxes}, values);
}

std::size_t found_at(float threshold, const Tensor& head, Activation activation) {
  auto description = model_of({640, 640}, {output_of(OutputRole::detection, {1, 6, bad_boxes})});
  description.outputs[0].activation = activation;
  const DecodeOptions options{.score_threshold = threshold};
  const auto found = decode_all(description, {head}, options).detections;
  for (const Detection& d : found)
    EXPECT_EQ(d.label, 0) << "of equal classes the first wins";
  return found.size();
}

TEST(BadInput, scores_that_are_all_the_same_pass_together_or_not_at_all) {
  using enum Activation;
  EXPECT_EQ(found_at(0.25F, head_of(0), none), 0U);
  EXPECT_EQ(found_at(0, head_of(0), none), bad_boxes) << "0 >= 0";
  EXPECT_EQ(found_at(0.25F, head_of(0), sigmoid), bad_boxes) << "half";
  EXPECT_EQ(found_at(1, head_of(1), none), bad_boxes);
  EXPECT_EQ(found_at(1, head_of(90), sigmoid), bad_boxes);
  EXPECT_EQ(found_at(1, head_of(infinity), sigmoid), bad_boxes);
  EXPECT_EQ(found_at(0.001F, head_of(-infinity), sigmoid), 0U);
  for (const Activation activation : {none, sigmoid, softmax, tanh})
    EXPECT_EQ(found_at(0, head_of(not_a_number), activation), 0U);
}

TEST(BadInput, integers_that_are_all_at_an_end_are_that_value) {
  for (const auto& [raw, count] : {std::pair(-128, std::size_t{0}), {127, bad_boxes}}) {
    std::vector<std::int8_t> values(6 * bad_boxes, static_cast<std::int8_t>(raw));
    for (std::size_t i = 0; i < 4 * bad_boxes; ++i)
      values[i] = static_cast<std::int8_t>(i < bad_boxes ? 5 * static_cast<int>(i) - 100 : 4);
    const Tensor head = quantized_of<std::int8_t>({1, 6, bad_boxes}, values, 1 / 255.0F, -128);
    auto description = model_of(
        {640, 640}, {output_of(OutputRole::detection, {1, 6, bad_boxes}, BoxUnits::fraction)});
    const DecodeOptions options{.nms = Nms::none};
    EXPECT_EQ(decode_all(description, {head}, options).detections.size(), count);
  }
}

TEST(BadInput, two_outputs_that_could_both_be_scores_are_named) {
  const auto twice = model_of({640, 640}, {output_of(OutputRole::boxes, {1, 4, bad_boxes}),
                                           output_of(OutputRole::scores, {1, 3, bad_boxes}),
                                           output_of(OutputRole::scores, {1, 3, bad_boxes})});
  expect_wrong(Decoder::create(twice), {"scores", "outputs[1]", "outputs[2]"});
  const std::vector<TensorSpec> specs{{"a", DType::f32, {1, 4, bad_boxes}, {}, {}},
                                      {"b", DType::f32, {1, 3, bad_boxes}, {}, {}},
                                      {"c", DType::f32, {1, 3, bad_boxes}, {}, {}}};
  expect_refusal(Decoder::for_outputs(specs, {640, 640}), Errc::unsupported,
                 {"[1, 4, 40]", "[1, 3, 40], [1, 3, 40]"});
}

TEST(BadInput, outputs_that_count_other_boxes_are_named_with_both_counts) {
  const auto mixed = model_of({640, 640}, {output_of(OutputRole::boxes, {1, 4, bad_boxes}),
                                           output_of(OutputRole::scores, {1, 3, bad_boxes + 1})});
  expect_wrong(Decoder::create(mixed), {"outputs[1]", "41", "40"});
}

TEST(BadInput, heads_without_a_class_are_refused_by_shape) {
  for (const auto& shape :
       {std::vector<std::size_t>{1, 4, bad_boxes}, {1, bad_boxes, 4}, {4, bad_boxes}}) {
    auto description = model_of({640, 640}, {output_of(OutputRole::detection, shape)});
    expect_refusal(Decoder::create(description), Errc::unsupported,
                   {"boxes without scores", "4", "40"});
    description.labels.assign(bad_boxes - 4, "class");  // four boxes then
    EXPECT_TRUE(Decoder::create(description));
  }
  expect_wrong(
      Decoder::create(model_of({640, 640}, {output_of(OutputRole::boxes, {1, 4, bad_boxes}),
                                            output_of(OutputRole::scores, {1, 0, bad_boxes})})),
      {"outputs[1].shape[1]", "0"});
}

TEST(BadInput, quantization_that_cannot_be_is_named_with_its_output) {
  auto description = model_of({640, 640}, {output_of(OutputRole::detection, {1, 6, bad_boxes})});
  description.outputs[0].dtype = DType::i8;
  for (const float bad : {0.0F, -1.0F, infinity, not_a_number}) {
    description.outputs[0].quantization = Quantization::per_tensor(bad);
    expect_wrong(Decoder::create(description), {"outputs[0]", "quantization.scale", "above 0"});
  }
  description.outputs[0].quantization = Quantization::per_tensor(0.1F, 200);
  expect_wrong(Decoder::create(description),
               {"outputs[0]", "quantization.zero_point", "200", "-128..127"});
  description.outputs[0].quantization = Quantization{{0.1F, 0.1F}, {0, 0}, 1};
  expect_wrong(Decoder::create(description),
               {"outputs[0]", "quantization.scale", "axis 1 has extent 6"});
  description.outputs[0].quantization.reset();
  const Tensor bare = filled<std::int8_t>({1, 6, bad_boxes});
  expect_wrong(Decoder::create(description)->decode({&bare, 1}),
               {"outputs[0]", "i8", "needs quantization"});
}

TEST(BadInput, thresholds_outside_their_range_are_refused_by_name) {
  const auto description =
      model_of({640, 640}, {output_of(OutputRole::detection, {1, 6, bad_boxes})});
  for (const float bad : {-0.01F, 1.01F, not_a_number}) {
    expect_wrong(Decoder::create(description, {.class_thresholds = {0.5F, bad}}),
                 {"class_thresholds", "[0, 1]"});
    expect_wrong(Decoder::create(description, {.score_threshold = bad}),
                 {"score_threshold", "[0, 1]"});
    expect_wrong(Decoder::create(description, {.iou_threshold = bad}), {"iou_threshold", "[0, 1]"});
  }
}

}  // namespace
}  // namespace halyard::test
