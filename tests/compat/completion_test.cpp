// SPDX-License-Identifier: Apache-2.0
// Descriptions that leave something open: what the reference's conventions make of it.
#include <gtest/gtest.h>

#include "heads.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using compat::Decoder;
using compat::Found;
using compat::Output;

/// One box of class `label` and score 0.9 in the fractions {0.4, 0.3, 0.6, 0.7}; feature f of the
/// box is at `at(f)`.
Tensor one_box(std::vector<std::size_t> shape, std::size_t label, auto&& at) {
  std::vector<float> values(shape[1] * shape[2], 0.0F);
  const float box[4] = {.5F, .5F, .2F, .4F};
  for (std::size_t f = 0; f < 4; ++f)
    values[at(f)] = box[f];
  values[at(4 + label)] = .9F;
  return tensor_of<float>({shape[0], shape[1], shape[2]}, values);
}

void expect_one(const Decoder& decoder, const Tensor& tensor, std::int32_t label) {
  Found found;
  ASSERT_OK(decoder.decode({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  expect_box(found.boxes[0].box, {.4F, .3F, .6F, .7F});
  EXPECT_EQ(found.boxes[0].label, label);
}

TEST(Completion, axes_without_names_are_features_then_boxes) {
  for (const auto& shape : std::vector<std::vector<std::size_t>>{
           {1, 84, 20}, {1, 20, 84}, {1, 299, 5}, {1, 300, 4}, {1, 300, 300}, {1, 301, 300}}) {
    SCOPED_TRACE(shape[1] * 1000 + shape[2]);
    std::vector<Output> outputs(1);
    outputs[0].shape = shape;
    const std::size_t boxes = shape[2];
    expect_one(decoder_of(outputs), one_box(shape, 7, [&](std::size_t f) { return f * boxes + 2; }),
               7);
  }
}

TEST(Completion, many_rows_of_few_features_are_boxes_then_features) {
  for (const auto& shape :
       std::vector<std::vector<std::size_t>>{{1, 300, 5}, {1, 301, 84}, {1, 400, 299}}) {
    SCOPED_TRACE(shape[1] * 1000 + shape[2]);
    std::vector<Output> outputs(1);
    outputs[0].shape = shape;
    const std::size_t features = shape[2];
    expect_one(decoder_of(outputs),
               one_box(shape, 0, [&](std::size_t f) { return 2 * features + f; }), 0);
  }
}

TEST(Completion, other_families_keep_the_order_of_their_own) {
  ModelDescription description;
  description.input = {320, 320};
  OutputDescription& output = description.outputs.emplace_back();
  output.family = Family::detr;
  output.shape = {1, 84, 20};
  std::vector<float> values(84 * 20, -9.0F);
  for (std::size_t i = 0; i < 4; ++i)
    values[3 * 20 + i] = 0.5F;
  values[3 * 20 + 4 + 6] = 9;
  const Tensor tensor = tensor_of<float>({1, 84, 20}, values);
  ASSERT_VALUE(const Decoder decoder, Decoder::from_description(description));
  ASSERT_VALUE(const halyard::Decoder own, halyard::Decoder::create(description));
  ASSERT_VALUE(const auto expected, own.decode({&tensor, 1}));
  Found found;
  ASSERT_OK(decoder.decode({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  ASSERT_EQ(expected.size(), 1U);
  EXPECT_EQ(found.boxes[0].score, expected[0].score);
  EXPECT_EQ(found.boxes[0].label, 6);
}

TEST(Completion, class_scores_of_wide_integers_are_bytes_of_them_not_of_real_values) {
  std::vector<Output> outputs(1);
  outputs[0].kind = compat::OutputKind::segmentation;
  outputs[0].family = compat::OutputFamily::modelpack;
  outputs[0].shape = {1, 1, 2, 2};
  const Decoder decoder = decoder_of(outputs);
  Found found;
  const Tensor near = tensor_of<std::int32_t>({1, 1, 2, 2}, {0, 1, 2, 3});
  ASSERT_OK(decoder.decode({&near, 1}, found));
  const auto bytes = [&] {
    const std::uint8_t* const data = found.segmentations[0].data;
    return std::vector<int>(data, data + 4);
  };
  EXPECT_EQ(bytes(), (std::vector<int>{128, 128, 128, 128}));
  const Tensor real = tensor_of<double>({1, 1, 2, 2}, {0, 1, 2, 3});
  ASSERT_OK(decoder.decode({&real, 1}, found));
  EXPECT_EQ(bytes(), (std::vector<int>{0, 85, 170, 255}));
}

TEST(Completion, units_of_split_outputs_are_those_of_the_boxes) {
  std::vector<Output> outputs(2);
  outputs[0].kind = compat::OutputKind::scores;
  outputs[0].shape = {1, 3, 20};
  outputs[1].kind = compat::OutputKind::boxes;
  outputs[1].shape = {1, 4, 20};
  EXPECT_EQ(decoder_of(outputs).normalized_boxes(), std::nullopt);
  for (const bool normalized : {false, true}) {
    outputs[1].normalized = normalized;
    EXPECT_EQ(decoder_of(outputs).normalized_boxes(), normalized);
  }
}

TEST(Completion, integers_of_a_described_type_have_scale_1_without_quantization) {
  ModelDescription description;
  OutputDescription& output = description.outputs.emplace_back();
  output.shape = {1, 5, 20};
  output.dtype = DType::i8;
  std::vector<std::int8_t> values(100, 0);
  for (const auto& [feature, value] : {std::pair{0, 50}, {1, 40}, {2, 20}, {3, 10}, {4, 1}})
    values[static_cast<std::size_t>(feature) * 20] = static_cast<std::int8_t>(value);
  const Tensor tensor = tensor_of<std::int8_t>({1, 5, 20}, values);
  ASSERT_VALUE(const Decoder decoder, Decoder::from_description(description));
  Found found;
  ASSERT_OK(decoder.decode({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  expect_box(found.boxes[0].box, {40, 35, 60, 45});
}

TEST(Completion, an_input_needs_both_extents) {
  std::vector<Output> outputs(1);
  outputs[0].shape = {1, 5, 20};
  for (const Size wrong : {Size{0, 5}, Size{5, 0}, Size{-1, 5}})
    EXPECT_FAILS(Decoder::from_outputs(outputs, {}, {.input_dims = wrong}), Errc::invalid_argument,
                 "input_dims");
  EXPECT_EQ(decoder_of(outputs, {.input_dims = Size{1, 1}}).input_dims(), (Size{1, 1}));
}

TEST(Found, clear_removes_everything) {
  Found found;
  found.boxes.resize(2);
  found.rotated.resize(2);
  found.is_rotated = true;
  found.keypoints.resize(4);
  found.keypoints_each = 2;
  found.classes.resize(5);
  found.tracks.resize(2);
  found.segmentations.assign(2, 3, 4)[0] = 7;
  ASSERT_EQ(found.segmentations.size(), 1U);
  found.clear();
  EXPECT_EQ(found.boxes.size() + found.rotated.size() + found.keypoints.size() +
                found.keypoints_each + found.classes.size() + found.tracks.size() +
                found.segmentations.size(),
            0U);
  EXPECT_FALSE(found.is_rotated);
}

}  // namespace
}  // namespace halyard::test
