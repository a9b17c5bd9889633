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

}  // namespace
}  // namespace halyard::test
