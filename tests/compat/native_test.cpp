// SPDX-License-Identifier: Apache-2.0
// Decoders of the library's own convention: pixels, every element of a batch, errors for what
// cannot be known; and what both conventions give beside boxes.
#include <gtest/gtest.h>

#include "heads.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;
using compat::Convention;
using compat::Decoder;
using compat::DecoderOptions;
using compat::Found;
using compat::Output;

DecoderOptions native() {
  DecoderOptions options;
  options.convention = Convention::native;
  options.input_dims = Size{640, 320};
  return options;
}

std::vector<Output> output_of(std::vector<std::size_t> shape) {
  std::vector<Output> out(1);
  out[0].shape = std::move(shape);
  out[0].normalized = true;
  return out;
}

// Two images, each with one box of class 0 about its own centre.
Tensor two_images() {
  std::vector<float> values = head_values({{.25F, .25F, .1F, .2F, .9F}}, 5, 8);
  const std::vector<float> second = head_values({{.75F, .5F, .1F, .2F, .8F}}, 5, 8);
  values.insert(values.end(), second.begin(), second.end());
  return tensor_of<float>({2, 5, 8}, values);
}

TEST(compat_native, boxes_are_pixels_of_each_element_of_a_batch) {
  auto decoder = Decoder::from_outputs(output_of({1, 5, 8}), {}, native());
  ASSERT_TRUE(decoder) << decoder.error().message();
  EXPECT_EQ(decoder->normalized_boxes(), false);
  const Tensor tensor = two_images();
  EXPECT_EQ(*decoder->batch_size({&tensor, 1}), 2U);
  EXPECT_EQ(decoder->described_batch(), 1U);
  Found found;
  ASSERT_TRUE(decoder->decode({&tensor, 1}, found, SIZE_MAX, 1));
  ASSERT_EQ(found.boxes.size(), 1U);
  expect_box(found.boxes[0].box, {448, 128, 512, 192}, 1e-2F);
  EXPECT_EQ(code_of(decoder->decode({&tensor, 1}, found, SIZE_MAX, 2)), Errc::invalid_argument);
  EXPECT_EQ(code_of(decoder->decode({&tensor, 1}, found)), Errc::invalid_argument);
}

TEST(compat_native, the_reference_s_decoder_takes_the_batch_of_its_description_alone) {
  const Tensor tensor = two_images();
  Found found;
  const Decoder one = decoder_of(output_of({1, 5, 8}));
  EXPECT_EQ(code_of(one.decode({&tensor, 1}, found)), Errc::invalid_argument);
  const Decoder two = decoder_of(output_of({2, 5, 8}));
  ASSERT_TRUE(two.decode({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  expect_box(found.boxes[0].box, {.2F, .15F, .3F, .35F}, 1e-5F);
}

TEST(compat_native, suppression_is_within_a_class_where_nothing_says) {
  auto decoder = Decoder::from_outputs(output_of({1, 6, 8}), {}, native());
  ASSERT_TRUE(decoder) << decoder.error().message();
  EXPECT_EQ(decoder->options().nms, compat::Nms::class_aware);
  auto reference = Decoder::from_outputs(output_of({1, 6, 8}));
  ASSERT_TRUE(reference) << reference.error().message();
  EXPECT_EQ(reference->options().nms, compat::Nms::class_agnostic);
}

TEST(compat_native, what_cannot_be_known_is_refused) {
  DecoderOptions options = native();
  options.input_dims.reset();
  EXPECT_EQ(code_of(Decoder::from_outputs(output_of({1, 5, 8}), {}, options)),
            Errc::invalid_argument);
  EXPECT_EQ(code_of(Decoder::from_outputs(mask_outputs(), {}, options)), Errc::invalid_argument);
  for (const float wrong : {-.1F, 1.5F}) {
    options = native();
    options.score_threshold = wrong;
    EXPECT_EQ(code_of(Decoder::from_outputs(output_of({1, 5, 8}), {}, options)),
              Errc::invalid_argument);
    options.score_threshold = .5F;
    options.iou_threshold = wrong;
    EXPECT_EQ(code_of(Decoder::from_outputs(output_of({1, 5, 8}), {}, options)),
              Errc::invalid_argument);
  }
  auto decoder = Decoder::from_outputs(output_of({1, 5, 8}), {}, native());
  Found found;
  for (const Tensor& bare : {tensor_of<std::uint8_t>({1, 5, 8}, std::vector<std::uint8_t>(40, 1)),
                             tensor_of<std::int32_t>({1, 5, 8}, std::vector<std::int32_t>(40, 1))})
    EXPECT_EQ(code_of(decoder->decode({&bare, 1}, found)), Errc::invalid_argument);
}

TEST(compat_native, class_scores_are_those_of_the_element) {
  std::vector<Output> outputs(1);
  outputs[0].kind = compat::OutputKind::segmentation;
  outputs[0].family = compat::OutputFamily::modelpack;
  outputs[0].shape = {1, 1, 4, 2};
  auto decoder = Decoder::from_outputs(outputs, {}, native());
  ASSERT_TRUE(decoder) << decoder.error().message();
  std::vector<std::uint8_t> values(16);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::uint8_t>(i);
  const Tensor tensor = tensor_of<std::uint8_t>({2, 1, 4, 2}, values);
  Found found;
  for (std::size_t batch = 0; batch < 2; ++batch) {
    ASSERT_TRUE(decoder->decode({&tensor, 1}, found, SIZE_MAX, batch));
    ASSERT_EQ(found.segmentations.size(), 1U);
    EXPECT_EQ(found.segmentations[0].height, 1U);
    EXPECT_EQ(found.segmentations[0].width, 4U);
    EXPECT_EQ(found.segmentations[0].data[0], 8 * batch);
    EXPECT_EQ(found.segmentations[0].data[7], 8 * batch + 7);
  }
  EXPECT_EQ(code_of(decoder->decode({&tensor, 1}, found, SIZE_MAX, 2)), Errc::invalid_argument);
}

// One level of a grid of 2 x 1 cells, 32 px each, of a head with angles.
constexpr const char* oriented_levels = R"({"schema_version": 2, "task": "obb",
  "input": {"shape": [1, %H, 64, 3],
            "dshape": [["batch", 1], ["height", %H], ["width", 64], ["num_features", 3]]},
  "outputs": [
  {"type": "boxes", "encoding": "direct", "shape": [1, 4, %N], "outputs": [
    {"name": "b", "type": "boxes", "stride": 32, "shape": [1, %R, 2, 4], "dtype": "float32",
     "dshape": [["batch", 1], ["height", %R], ["width", 2], ["box_coords", 4]]}]},
  {"type": "scores", "shape": [1, 1, %N], "outputs": [
    {"name": "s", "type": "scores", "stride": 32, "shape": [1, %R, 2, 1], "dtype": "float32",
     "dshape": [["batch", 1], ["height", %R], ["width", 2], ["num_classes", 1]]}]},
  {"type": "angles", "shape": [1, 1, %N], "outputs": [
    {"name": "a", "type": "angles", "stride": 32, "shape": [1, %R, 2, 1], "dtype": "float32",
     "dshape": [["batch", 1], ["height", %R], ["width", 2], ["num_features", 1]]}]}]})";

std::string with_rows(std::size_t rows) {
  std::string text = oriented_levels;
  const auto put = [&](const char* name, std::size_t value) {
    for (std::size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, 2, std::to_string(value));
  };
  put("%H", 32 * rows);
  put("%N", 2 * rows);
  put("%R", rows);
  return text;
}

std::vector<Tensor> oriented_outputs(std::size_t rows) {
  std::vector<float> boxes(8 * rows, 0.5F), scores(2 * rows, 0.0F), angles(2 * rows, 0.0F);
  scores[0] = 0.9F;
  std::vector<Tensor> out{tensor_of<float>({1, rows, 2, 4}, boxes),
                          tensor_of<float>({1, rows, 2, 1}, scores),
                          tensor_of<float>({1, rows, 2, 1}, angles)};
  out[0].set_name("b");
  out[1].set_name("s");
  out[2].set_name("a");
  return out;
}

TEST(compat_native, rotated_boxes_have_fractions_of_square_inputs_alone) {
  Found found;
  auto pixels = Decoder::from_json(with_rows(1), {.convention = Convention::native});
  ASSERT_TRUE(pixels) << pixels.error().message();
  ASSERT_TRUE(pixels->decode(oriented_outputs(1), found));
  ASSERT_EQ(found.rotated.size(), 1U);
  EXPECT_TRUE(found.is_rotated);
  EXPECT_FLOAT_EQ(found.rotated[0].width, 32);
  auto square = Decoder::from_json(with_rows(2));
  ASSERT_TRUE(square) << square.error().message();
  ASSERT_TRUE(square->decode(oriented_outputs(2), found));
  ASSERT_EQ(found.rotated.size(), 1U);
  EXPECT_FLOAT_EQ(found.rotated[0].width, 0.5F);
  EXPECT_FLOAT_EQ(found.rotated[0].cx, 0.25F);
  auto wide = Decoder::from_json(with_rows(1));
  ASSERT_TRUE(wide) << wide.error().message();
  ASSERT_TRUE(wide->decode(oriented_outputs(1), found));
  EXPECT_EQ(found.boxes.size(), 1U);
  EXPECT_TRUE(found.rotated.empty());
}

}  // namespace
}  // namespace halyard
