// SPDX-License-Identifier: Apache-2.0
// Units, orders and options of decoding. Expectations are closed forms; those about units are what
// edgefirst_hal 0.28.3 does with the same tensors.
#include <gtest/gtest.h>

#include <limits>

#include "heads.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;
using compat::Decoder;
using compat::DecoderOptions;
using compat::Found;
using compat::Output;

Tensor detections(float scale) {
  return head_of({{.1F * scale, .5F * scale, .08F * scale, .2F * scale, .6F, 0, 0},
                  {.5F * scale, .5F * scale, .08F * scale, .2F * scale, 0, .8F, 0},
                  {.3F * scale, .5F * scale, .08F * scale, .2F * scale, 0, 0, .7F}},
                 7, 50);
}

std::vector<Output> detection_output(std::optional<bool> normalized) {
  std::vector<Output> out(1);
  out[0].shape = {1, 7, 50};
  out[0].normalized = normalized;
  return out;
}

TEST(compat_decode, boxes_without_masks_keep_the_units_of_the_tensor) {
  for (const std::optional<bool> normalized : {std::optional<bool>(), {true}, {false}}) {
    for (const std::optional<Size> input : {std::optional<Size>(), {Size{640, 320}}}) {
      DecoderOptions options;
      options.input_dims = input;
      const Decoder decoder = decoder_of(detection_output(normalized), options);
      EXPECT_EQ(decoder.normalized_boxes(), normalized);
      EXPECT_EQ(decoder.input_dims(), input);
      EXPECT_EQ(decoder.model_type(), "yolo_det");
      for (const float scale : {1.0F, 640.0F}) {
        Found found;
        const Tensor tensor = detections(scale);
        ASSERT_TRUE(decoder.decode({&tensor, 1}, found));
        ASSERT_EQ(found.boxes.size(), 3U);
        expect_box(found.boxes[0].box, {.46F * scale, .4F * scale, .54F * scale, .6F * scale},
                   1e-6F * scale);
        EXPECT_EQ(found.boxes[0].label, 1);
        EXPECT_FLOAT_EQ(found.boxes[0].score, .8F);
        EXPECT_EQ(found.boxes[1].label, 2);
        EXPECT_TRUE(found.segmentations.empty());
      }
    }
  }
}

TEST(compat_decode, boxes_with_masks_in_pixels_become_fractions_where_the_input_is_known) {
  const std::vector<Tensor> outputs{mask_head(640), mask_prototypes()};
  DecoderOptions options;
  options.input_dims = Size{640, 640};
  const Decoder decoder = decoder_of(mask_outputs(false), options);
  EXPECT_EQ(decoder.normalized_boxes(), true);
  Found found;
  ASSERT_TRUE(decoder.decode(outputs, found));
  expect_box(found.boxes[0].box, {.325F, .275F, .675F, .725F});
  EXPECT_EQ(found.segmentations.size(), 3U);

  // Without a size, or without the word, they are no fractions, and masks cannot be cut.
  for (const auto& other :
       {decoder_of(mask_outputs(false)), decoder_of(mask_outputs(true), options),
        decoder_of(mask_outputs({}), options)}) {
    const Status failed = other.decode(outputs, found);
    EXPECT_EQ(code_of(failed), Errc::invalid_argument);
  }
}

TEST(compat_decode, masks_are_probabilities_cut_at_the_box_at_the_prototypes_resolution) {
  const Decoder decoder = decoder_of(mask_outputs());
  EXPECT_EQ(decoder.model_type(), "yolo_seg_det");
  const std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  Found found;
  ASSERT_TRUE(decoder.decode(outputs, found));
  ASSERT_EQ(found.segmentations.size(), 3U);
  const auto bytes = [&](std::size_t i) {
    const compat::Segmentation& s = found.segmentations[i];
    return std::vector<int>(s.data, s.data + s.height * s.width * s.channels);
  };
  // Columns 2..5 of 8: round(255 sigmoid(3 (x - 3.5))).
  const auto& first = found.segmentations[0];
  EXPECT_EQ(first.height, 4U);
  EXPECT_EQ(first.width, 4U);
  EXPECT_EQ(first.channels, 1U);
  EXPECT_EQ(bytes(0),
            (std::vector<int>{3, 47, 208, 252, 3, 47, 208, 252, 3, 47, 208, 252, 3, 47, 208, 252}));
  expect_box(first.box, {.25F, .25F, .75F, .75F});
  EXPECT_EQ(bytes(1), (std::vector<int>{248, 248, 165, 165, 21, 21}));
  EXPECT_EQ(bytes(2), (std::vector<int>{255, 255, 255, 255}));
}

TEST(compat_decode, max_boxes_takes_the_best_with_their_masks) {
  const Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  Found found;
  ASSERT_TRUE(decoder.decode(outputs, found, 1));
  ASSERT_EQ(found.boxes.size(), 1U);
  EXPECT_EQ(found.segmentations.size(), 1U);
  ASSERT_TRUE(decoder.decode(outputs, found, 0));
  EXPECT_TRUE(found.boxes.empty());
  EXPECT_TRUE(found.segmentations.empty());
}

TEST(compat_decode, boxes_alone_come_without_masks) {
  const std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  Found found;
  ASSERT_OK(decoder_of(mask_outputs()).decode_boxes(outputs, found));
  EXPECT_EQ(found.boxes.size(), 3U);
  EXPECT_TRUE(found.segmentations.empty());
}

TEST(compat_decode, options_may_change_between_calls) {
  Decoder decoder = decoder_of(detection_output({}));
  EXPECT_EQ(decoder.options().nms, compat::Nms::class_agnostic);
  EXPECT_EQ(decoder.options().pre_nms_top_k, 300U);
  EXPECT_EQ(decoder.options().max_det, 300U);
  const Tensor tensor = detections(1);
  compat::Found found;
  const auto count = [&] {
    EXPECT_TRUE(decoder.decode_boxes({&tensor, 1}, found));
    return found.boxes.size();
  };
  EXPECT_EQ(count(), 3U);
  ASSERT_TRUE(decoder.set_score_threshold(.65F));
  EXPECT_EQ(count(), 2U);
  ASSERT_TRUE(decoder.set_max_det(1));
  EXPECT_EQ(count(), 1U);
  ASSERT_TRUE(decoder.set_max_det(0));
  EXPECT_EQ(count(), 0U);
  ASSERT_TRUE(decoder.set_max_det(300));
  ASSERT_TRUE(decoder.set_score_threshold(2));
  EXPECT_EQ(count(), 0U);
  ASSERT_TRUE(decoder.set_score_threshold(-1));
  ASSERT_TRUE(decoder.set_nms(compat::Nms::none));
  EXPECT_EQ(count(), 50U);
  EXPECT_EQ(decoder.options().score_threshold, -1);
  EXPECT_EQ(code_of(decoder.set_iou_threshold(std::numeric_limits<float>::quiet_NaN())),
            Errc::invalid_argument);
  EXPECT_EQ(decoder.options().iou_threshold, .5F);
}

TEST(compat_decode, suppression_is_the_configurations_where_it_is_automatic) {
  const std::string text = R"({"outputs": [{"type": "detection", "shape": [1, 7, 50]}])";
  for (const auto& [nms, expected] :
       {std::pair{R"(, "nms": "class_aware"})", compat::Nms::class_aware},
        std::pair{"}", compat::Nms::class_agnostic}}) {
    const auto decoder = Decoder::from_json(text + nms);
    ASSERT_TRUE(decoder) << decoder.error().message();
    EXPECT_EQ(decoder->options().nms, expected);
  }
  DecoderOptions options;
  options.nms = compat::Nms::none;
  const auto decoder = Decoder::from_json(text + R"(, "nms": "class_aware"})", options);
  ASSERT_TRUE(decoder);
  EXPECT_EQ(decoder->options().nms, compat::Nms::none);
}

TEST(compat_decode, tensors_are_found_by_shape_in_any_order_and_others_are_passed_over) {
  const Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> outputs{mask_prototypes(), tensor_of<float>({3}, {1, 2, 3}),
                                    mask_head()};
  Found found;
  ASSERT_TRUE(decoder.decode(outputs, found));
  EXPECT_EQ(found.boxes.size(), 3U);
  EXPECT_EQ(found.segmentations[2].data[0], 255);
  EXPECT_EQ(code_of(decoder.decode(std::span(outputs).first(2), found)), Errc::invalid_argument);
  EXPECT_EQ(code_of(decoder.decode({}, found)), Errc::invalid_argument);
}

TEST(compat_decode, names_of_axes_turn_a_tensor_of_rows_into_boxes) {
  std::vector<Output> outputs(1);
  outputs[0].shape = {1, 3, 6};
  outputs[0].dims = {compat::DimName::batch, compat::DimName::num_boxes,
                     compat::DimName::num_features};
  const auto decoder =
      Decoder::from_outputs(outputs, compat::DecoderVersion::yolov8, DecoderOptions{});
  ASSERT_TRUE(decoder) << decoder.error().message();
  const Tensor tensor = tensor_of<float>(
      {1, 3, 6}, {.5F, .5F, .2F, .2F, .1F, .9F, 0, 0, 0, 0, 0, 0, .2F, .2F, .2F, .2F, .8F, .1F});
  compat::Found found;
  ASSERT_TRUE(decoder->decode_boxes({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 2U);
  expect_box(found.boxes[0].box, {.4F, .4F, .6F, .6F});
  EXPECT_EQ(found.boxes[0].label, 1);
}

TEST(compat_decode, rows_of_suppressed_boxes_are_corners) {
  std::vector<Output> outputs(1);
  outputs[0].shape = {1, 10, 6};
  outputs[0].dims = {compat::DimName::batch, compat::DimName::num_boxes,
                     compat::DimName::num_features};
  const auto decoder =
      Decoder::from_outputs(outputs, compat::DecoderVersion::yolo26, DecoderOptions{});
  ASSERT_TRUE(decoder) << decoder.error().message();
  EXPECT_EQ(decoder->model_type(), "yolo_end_to_end_det");
  std::vector<float> rows(60, 0);
  const float row[6] = {.1234F, .1234F, .2345F, .2345F, .9876F, 2};
  std::copy(row, row + 6, rows.begin());
  const Tensor tensor = tensor_of<float>({1, 10, 6}, rows);
  compat::Found found;
  ASSERT_TRUE(decoder->decode_boxes({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  EXPECT_EQ(found.boxes[0].box, (Box{.1234F, .1234F, .2345F, .2345F}));
  EXPECT_EQ(found.boxes[0].label, 2);
}

TEST(compat_decode, integers_without_quantization_count_as_they_are) {
  std::vector<Output> outputs = detection_output({});
  std::vector<std::int8_t> values(7 * 50, 0);
  for (const auto& [feature, value] : {std::pair{0, 50}, {1, 50}, {2, 20}, {3, 10}, {5, 1}})
    values[static_cast<std::size_t>(feature) * 50] = static_cast<std::int8_t>(value);
  const Tensor tensor = tensor_of<std::int8_t>({1, 7, 50}, values);
  compat::Found found;
  ASSERT_TRUE(decoder_of(outputs).decode_boxes({&tensor, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  expect_box(found.boxes[0].box, {40, 45, 60, 55});
  outputs[0].scale = .5F;
  outputs[0].zero_point = -10;
  ASSERT_TRUE(decoder_of(outputs, {.score_threshold = 1}).decode_boxes({&tensor, 1}, found));
  // (50 + 10) / 2 = 30, 15 wide, 10 high; scores (1 + 10) / 2.
  ASSERT_FALSE(found.boxes.empty());
  expect_box(found.boxes[0].box, {22.5F, 25, 37.5F, 35});
}

TEST(compat_decode, f64_and_i32_tensors_are_read) {
  const std::vector<float> values = head_values({{.5F, .5F, .25F, .5F, .75F, 0, 0}}, 7, 50);
  const Tensor wide = tensor_of<double>({1, 7, 50}, {values.begin(), values.end()});
  compat::Found found;
  ASSERT_TRUE(decoder_of(detection_output({})).decode_boxes({&wide, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  EXPECT_EQ(found.boxes[0].box, (Box{.375F, .25F, .625F, .75F}));

  std::vector<std::int32_t> stored;
  for (const float value : values)
    stored.push_back(static_cast<std::int32_t>(value * 4096) + 7);
  std::vector<Output> outputs = detection_output({});
  outputs[0].scale = 1.0F / 4096;
  outputs[0].zero_point = 7;
  const Tensor integers = tensor_of<std::int32_t>({1, 7, 50}, stored);
  ASSERT_TRUE(decoder_of(outputs).decode_boxes({&integers, 1}, found));
  ASSERT_EQ(found.boxes.size(), 1U);
  EXPECT_EQ(found.boxes[0].box, (Box{.375F, .25F, .625F, .75F}));
}

TEST(compat_decode, grids_of_anchors_give_fractions_whatever_is_known_of_the_input) {
  // Logits of 0: the centre of the cell, the anchor's own extent, scores of 1/4.
  std::vector<Output> outputs(1);
  outputs[0].family = compat::OutputFamily::modelpack;
  outputs[0].shape = {1, 2, 4, 14};
  outputs[0].anchors = {{.25F, .5F}, {.1F, .2F}};
  const Tensor tensor = tensor_of<float>({1, 2, 4, 14}, std::vector<float>(112, 0));
  for (const std::optional<Size> input : {std::optional<Size>(), {Size{320, 160}}}) {
    const Decoder decoder = decoder_of(
        outputs, {.score_threshold = .2F, .nms = compat::Nms::none, .input_dims = input});
    EXPECT_EQ(decoder.normalized_boxes(), true);
    EXPECT_EQ(decoder.input_dims(), input);
    compat::Found found;
    ASSERT_TRUE(decoder.decode_boxes({&tensor, 1}, found));
    ASSERT_EQ(found.boxes.size(), 16U);
    EXPECT_NEAR(found.boxes[0].score, .25F, 1e-6F);
    expect_box(found.boxes[0].box, {.125F - .125F, .25F - .25F, .125F + .125F, .25F + .25F});
    expect_box(found.boxes[1].box, {.125F - .05F, .25F - .1F, .125F + .05F, .25F + .1F});
  }
}

TEST(compat_decode, scores_of_classes_are_bytes_for_the_whole_image) {
  std::vector<Output> outputs(1);
  outputs[0].kind = compat::OutputKind::segmentation;
  outputs[0].family = compat::OutputFamily::modelpack;
  outputs[0].shape = {1, 2, 2, 3};
  const Decoder decoder = decoder_of(outputs);
  EXPECT_EQ(decoder.model_type(), "modelpack_seg");
  const Tensor tensor =
      tensor_of<std::int8_t>({1, 2, 2, 3}, {-128, 0, 127, 1, 2, 3, 9, 8, 7, 0, 5, 5});
  Found found;
  ASSERT_TRUE(decoder.decode({&tensor, 1}, found));
  ASSERT_EQ(found.segmentations.size(), 1U);
  const compat::Segmentation& scores = found.segmentations[0];
  EXPECT_EQ(scores.channels, 3U);
  EXPECT_EQ(scores.box, (Box{0, 0, 1, 1}));
  EXPECT_EQ(std::vector<int>(scores.data, scores.data + 3), (std::vector<int>{0, 128, 255}));
  const auto mask = compat::segmentation_to_mask(scores);
  ASSERT_TRUE(mask);
  const auto map = mask->map(Access::read);
  const auto ids = map->flat<const std::uint8_t>();
  EXPECT_EQ(std::vector<int>(ids->begin(), ids->end()), (std::vector<int>{2, 2, 0, 1}));
}

TEST(compat_decode, a_mask_of_one_channel_is_on_from_128) {
  const std::uint8_t bytes[3] = {127, 128, 255};
  const auto mask = compat::segmentation_to_mask({{0, 0, 1, 1}, 1, 3, 1, bytes});
  ASSERT_TRUE(mask);
  const auto map = mask->map(Access::read);
  const auto ids = map->flat<const std::uint8_t>();
  EXPECT_EQ(std::vector<int>(ids->begin(), ids->end()), (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(code_of(compat::segmentation_to_mask({{}, 0, 3, 1, bytes})), Errc::invalid_argument);
  std::vector<std::uint8_t> scores(257);
  scores[255] = 9;
  const auto last = compat::segmentation_to_mask({{}, 1, 1, 256, scores.data()});
  ASSERT_OK(last);
  EXPECT_EQ(last->map(Access::read)->data()[0], std::byte{255});
  EXPECT_FAILS(compat::segmentation_to_mask({{}, 1, 1, 257, scores.data()}), Errc::invalid_argument,
               "1..256 channels");
}

TEST(compat_decode, dequantize_takes_the_zero_point_off_first) {
  const Tensor input = tensor_of<std::int8_t>({4}, {0, 127, -128, 64});
  Tensor output = *Tensor::create(DType::f32, {2, 2});
  ASSERT_TRUE(compat::dequantize(input, .1F, -128, output));
  const auto map = output.map(Access::read);
  const auto values = *map->flat<const float>();
  EXPECT_FLOAT_EQ(values[0], 12.8F);
  EXPECT_FLOAT_EQ(values[1], 25.5F);
  EXPECT_EQ(values[2], 0);
  EXPECT_FLOAT_EQ(values[3], 19.2F);
  Tensor small = *Tensor::create(DType::f32, {3});
  EXPECT_EQ(code_of(compat::dequantize(input, 1, 0, small)), Errc::invalid_argument);
}

TEST(compat_decode, what_is_no_configuration_is_refused) {
  EXPECT_EQ(code_of(Decoder::from_json("{")), Errc::malformed);
  EXPECT_EQ(code_of(Decoder::from_json(R"({"schema_version": 3, "outputs": []})")),
            Errc::unsupported);
  EXPECT_FALSE(Decoder::from_outputs({}));
  std::vector<Output> wrong = detection_output({});
  wrong[0].kind = static_cast<compat::OutputKind>(99);
  EXPECT_EQ(code_of(Decoder::from_outputs(wrong)), Errc::invalid_argument);
  wrong[0].kind = compat::OutputKind::protos;
  wrong[0].normalized = true;
  EXPECT_EQ(code_of(Decoder::from_outputs(wrong)), Errc::invalid_argument);
  EXPECT_EQ(code_of(Decoder::from_file("/nowhere/model.json")), Errc::not_found);
}

}  // namespace
}  // namespace halyard
