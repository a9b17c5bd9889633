// SPDX-License-Identifier: Apache-2.0
// What the decoder refuses, and that the message says why.
#include <gtest/gtest.h>

#include <limits>

#include "decode/head/heads.h"
#include "decode/tensors.h"

namespace halyard::test {
namespace {

ModelDescription described(std::vector<std::vector<std::size_t>> shapes) {
  ModelDescription description;
  description.input = {640, 640};
  for (auto& shape : shapes)
    description.outputs.push_back({.shape = std::move(shape)});
  return description;
}

TEST(DecoderRefuses, outputs_that_no_head_has) {
  expect_refusal(Decoder::create(described({{1, 84, 8400}, {1, 84, 8400}})), Errc::unsupported,
                 {"[1, 84, 8400], [1, 84, 8400]", "several detection outputs"});
  expect_wrong(Decoder::create(described({{1, 80, 80, 255}})),
               {"outputs[0].shape", "[1, 80, 80, 255]", "rank"});
  expect_wrong(Decoder::create(described({{1, 4, 3}})), {"[1, 4, 3]"});
  expect_refusal(Decoder::create(described({{1, 640, 640}})), Errc::unsupported,
                 {"different extents"});
  expect_wrong(Decoder::create(described({})), {"outputs", "empty"});
}

TEST(DecoderRefuses, a_list_of_classes_as_one_box) {
  for (const auto& shape : {std::vector<std::size_t>{1, 1000}, {1000, 1}})
    expect_refusal(Decoder::create(described({shape})), Errc::unsupported,
                   {"must have rank 2 or 3"});
  EXPECT_TRUE(Decoder::create(described({{2, 1000}}))) << "two boxes";
}

TEST(DecoderRefuses, grids_that_do_not_fit_their_anchors) {
  const auto decoder_of = [](std::vector<std::size_t> shape) {
    auto description = described({std::move(shape)});
    description.outputs[0].anchors = {{0.1F, 0.2F}, {0.3F, 0.4F}};
    return Decoder::create(description);
  };
  EXPECT_TRUE(decoder_of({1, 2, 20, 30, 6}));
  for (const std::size_t features : {4, 5}) {
    expect_wrong(decoder_of({1, 2, 20, 30, features}),
                 {"outputs[0]", "an anchor must have 5 features and one per class"});
  }
  for (const std::size_t anchors : {1, 3}) {
    expect_wrong(decoder_of({1, anchors, 20, 30, 6}),
                 {"outputs[0]", "the axis of anchors must be as long as the list of anchors"});
  }
}

TEST(Decoder, takes_rows_of_six_as_end_to_end_unless_told_otherwise) {
  auto description = described({{1, 300, 6}});
  const auto is_end_to_end = [&] {
    return Decoder::create(description)->explain().find("end_to_end") != std::string::npos;
  };
  EXPECT_TRUE(is_end_to_end());
  description.decoder_version = "yolov8";
  EXPECT_FALSE(is_end_to_end());
  description.decoder_version.clear();
  description.labels = {"boat", "buoy"};
  EXPECT_FALSE(is_end_to_end());
  description.decoder_version = "yolo26";
  EXPECT_TRUE(is_end_to_end());
}

TEST(DecoderRefuses, roles_and_versions_it_does_not_know) {
  auto description = described({{1, 84, 8400}});
  description.outputs[0].role = OutputRole::boxes;
  description.outputs[0].shape = {1, 4, 8400};
  expect_refusal(Decoder::create(description), Errc::unsupported, {"boxes", "scores"});
  description.outputs[0].shape = {1, 84, 8400};
  description.outputs[0].role = OutputRole::auxiliary;
  expect_refusal(Decoder::create(description), Errc::unsupported, {"no detection output"});
  description.outputs[0].role = OutputRole::detection;
  description.decoder_version = "yolo27";
  expect_refusal(Decoder::create(description), Errc::unsupported, {"yolo27", "yolov8"});
}

TEST(DecoderRefuses, impossible_descriptions) {
  expect_wrong(Decoder::create(described({{1, 0, 8400}})), {"outputs[0].shape[1]: 0"});
  const std::size_t huge = std::numeric_limits<std::size_t>::max();
  expect_wrong(Decoder::create(described({{1, 84, huge}})), {"outputs[0].shape[2]", "2147483647"});
  auto named = described({{1, 84, 8400}});
  named.outputs[0].axes = {AxisName::batch, AxisName::num_features};
  expect_wrong(Decoder::create(named), {"outputs[0].dshape", "2 names", "rank 3"});
  named.outputs[0].axes = {AxisName::batch, AxisName::num_features, AxisName::num_features};
  expect_wrong(Decoder::create(named), {"dshape[1]", "twice"});
  named.outputs[0].axes = {AxisName::batch, AxisName::height, AxisName::num_boxes};
  expect_wrong(Decoder::create(named), {"num_features"});
  named.outputs[0].axes = {AxisName::padding, AxisName::num_features, AxisName::num_boxes};
  EXPECT_TRUE(Decoder::create(named));
  named.outputs[0].shape = {2, 84, 8400};
  expect_wrong(Decoder::create(named), {"dshape[0]: 2", "padding"});
  named.outputs[0] = {.shape = {1, 4, 9},
                      .axes = {AxisName::batch, AxisName::num_features, AxisName::num_boxes}};
  expect_wrong(Decoder::create(named), {"at least 5"});
}

TEST(DecoderRefuses, fractions_without_an_input_size) {
  auto description = described({{1, 5, 1}});
  description.input = {};
  ASSERT_VALUE(const auto late, Decoder::create(description));
  auto tensor = tensor_of<std::int8_t>({1, 5, 1}, {0, 0, 0, 0, 127});
  tensor = quantized<std::int8_t>(tensor, 0.004F, -128);
  expect_wrong(late.decode({&tensor, 1}), {"size of the network's input"});
  description.outputs[0].box_units = BoxUnits::fraction;
  expect_wrong(Decoder::create(description), {"input"});
}

TEST(DecoderRefuses, tensors_that_are_not_the_models) {
  const auto decoder = *Decoder::create(described({{1, 6, 30}}));
  const Tensor right = filled<float>({1, 6, 30});
  const Tensor rotated = filled<float>({1, 30, 6});
  const Tensor flat = filled<float>({180});
  EXPECT_TRUE(decoder.decode({&right, 1}));
  expect_wrong(decoder.decode({}), {"0 tensors, 1 outputs"});
  expect_wrong(decoder.decode({&rotated, 1}), {"[1, 30, 6]", "[1, 6, 30]"});
  expect_wrong(decoder.decode({&flat, 1}), {"[180]"});
  const Tensor none;
  expect_wrong(decoder.decode({&none, 1}), {"[]"});
  const std::vector<Tensor> two{right, right};
  expect_wrong(decoder.decode(two), {"2 tensors"});
}

TEST(DecoderRefuses, integers_without_quantization_and_foreign_types) {
  const auto decoder = *Decoder::create(described({{1, 5, 6}}));
  const Tensor bare = filled<std::int8_t>({1, 5, 6});
  expect_wrong(decoder.decode({&bare, 1}), {"quantization", "i8"});
  const Tensor wide = filled<double>({1, 5, 6});
  expect_refusal(decoder.decode({&wide, 1}), Errc::unsupported, {"f64"});
  auto ints = filled<std::int32_t>({1, 5, 6});
  ints = quantized<std::int32_t>(ints, 0.1F, 0);
  expect_refusal(decoder.decode({&ints, 1}), Errc::unsupported, {"i32"});
  auto channels = filled<std::int8_t>({1, 5, 6});
  ASSERT_TRUE(channels.set_quantization(Quantization{std::vector<float>(6, 0.1F), {}, 2}));
  expect_refusal(decoder.decode({&channels, 1}), Errc::unsupported, {"axis 2"});
}

TEST(DecoderRefuses, tensors_of_another_type_than_described) {
  auto description = described({{1, 5, 6}});
  description.outputs[0].dtype = DType::i8;
  const auto decoder = *Decoder::create(description);
  const Tensor floats = filled<float>({1, 5, 6});
  expect_refusal(decoder.decode({&floats, 1}), Errc::unsupported,
                 {"outputs[0]: dtype f32, described as i8"});
}

TEST(DecoderRefuses, tensors_that_shapes_do_not_tell_apart) {
  auto description = described({{1, 3}, {1, 4, 10}, {1, 4, 10}});
  description.outputs[0].role = OutputRole::auxiliary;
  description.outputs[1].role = OutputRole::boxes;
  description.outputs[2].role = OutputRole::scores;
  const auto decoder = *Decoder::create(description);
  const Tensor other = filled<float>({1, 3});
  std::array list{other, filled<float>({1, 4, 10}), filled<float>({1, 4, 10})};
  EXPECT_TRUE(decoder.decode(list)) << "in the order described";
  std::swap(list[0], list[2]);
  expect_wrong(decoder.decode(list),
               {"shapes alone do not tell", "outputs[1] and outputs[2]: [1, 4, 10]"});
}

TEST(DecoderRefuses, two_tensors_that_could_be_the_one) {
  auto description = described({{1, 3}, {1, 6, 30}, {1, 3}});
  description.outputs[0].role = description.outputs[2].role = OutputRole::auxiliary;
  const auto decoder = *Decoder::create(description);
  const Tensor head = filled<float>({1, 6, 30});
  const Tensor other = filled<float>({1, 3});
  expect_wrong(decoder.decode(std::array{head, other, head}),
               {"several tensors could be this one", "outputs[1]: [1, 6, 30]"});
}

TEST(DecoderRefuses, a_batch_index_beyond_the_batch) {
  const auto decoder = *Decoder::create(described({{2, 6, 30}}));
  const Tensor both = filled<float>({2, 6, 30});
  EXPECT_TRUE(decoder.decode({&both, 1}, 1));
  expect_wrong(decoder.decode({&both, 1}, 2), {"batch", "2, outputs[0] has 2"});
}

TEST(Decoder, finds_its_tensor_among_auxiliary_ones) {
  auto description = described({{1, 3}, {1, 6, 30}});
  description.outputs[0].role = OutputRole::auxiliary;
  ASSERT_VALUE(const auto decoder, Decoder::create(description));
  std::vector<float> values(180, 0.5F);
  const Tensor detection = tensor_of({1, 6, 30}, values);
  const Tensor other = tensor_of<float>({1, 3}, {0, 0, 0});
  EXPECT_TRUE(decoder.decode(std::array{other, detection}));
  EXPECT_TRUE(decoder.decode(std::array{detection, other}));
}

TEST(Decoder, prefers_the_tensor_of_the_described_name) {
  auto description = described({{1, 6, 30}, {1, 6, 30}});
  description.outputs[0].name = "boxes_now";
  description.outputs[1].role = OutputRole::auxiliary;
  const auto decoder = *Decoder::create(description);
  std::array tensors{tensor_of({1, 6, 30}, std::vector<float>(180, 0.0F)),
                     tensor_of({1, 6, 30}, std::vector<float>(180, 0.5F))};
  EXPECT_TRUE(decoder.decode(tensors)->empty());
  tensors[1].set_name("boxes_now");
  EXPECT_FALSE(decoder.decode(tensors)->empty());
}

TEST(Decoder, explains_its_choices) {
  auto description = described({{1, 84, 8400}});
  description.outputs[0].box_units = BoxUnits::fraction;
  const std::string text = Decoder::create(description)->explain();
  for (const char* word : {"axis 1 is features", "axis 2 is boxes", "80 classes", "640 x 640",
                           "fractions", "class_aware"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

}  // namespace
}  // namespace halyard::test
