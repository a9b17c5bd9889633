// SPDX-License-Identifier: Apache-2.0
// All that a decoder finds, in C: elements of a batch, pixels, keypoints, rotated boxes, classes.
#include <string>

#include "decoding.h"

namespace halyard::test {
namespace {

constexpr std::size_t boxes = 16;

// The text of a document of one output [1, features, 16], whose input is 64 x 32.
std::string document(std::size_t features, const char* fields) {
  const std::string shape = std::to_string(features);
  return R"({"schema_version": 2, "input": {"shape": [1, 32, 64, 3], "dshape": [["batch", 1],
    ["height", 32], ["width", 64], ["num_features", 3]]}, )" +
         std::string(fields) + R"("outputs": [{"type": "detection", "normalized": true,
    "shape": [1, )" +
         shape + R"(, 16], "dshape": [["batch", 1], ["num_features", )" + shape +
         R"(], ["num_boxes", 16]]}]})";
}

Owned<hal_decoder_params> params_of(const std::string& text) {
  Owned<hal_decoder_params> params(hal_decoder_params_new());
  EXPECT_DONE(hal_decoder_params_set_config_json(params, text.c_str(), text.size()));
  EXPECT_DONE(hal_decoder_params_set_native(params, true));
  return params;
}

Owned<hal_decoder> decoder_of(const std::string& text) {
  Owned<hal_decoder> decoder(hal_decoder_new(params_of(text)));
  EXPECT_TRUE(decoder) << hal_last_error();
  return decoder;
}

Owned<hal_decoded> decode(const hal_decoder* decoder, const hal_tensor* output,
                          std::size_t batch = 0, hal_bytetrack* tracker = nullptr,
                          std::uint64_t time_ns = 0) {
  return Owned<hal_decoded>(
      hal_decoder_decode_element(decoder, &output, 1, batch, tracker, time_ns));
}

// A batch of `images`, each with one box; its x is i / 4 of the input.
Tensor heads(std::size_t images, const std::vector<float>& rest) {
  const std::size_t features = 4 + rest.size();
  std::vector<float> values(images * features * boxes, 0.0F);
  for (std::size_t i = 0; i < images; ++i) {
    std::vector<float> column{.25F * static_cast<float>(i + 1), .5F, .125F, .25F};
    column.insert(column.end(), rest.begin(), rest.end());
    for (std::size_t r = 0; r < features; ++r)
      values[(i * features + r) * boxes + 3] = column[r];
  }
  return tensor_of({images, features, boxes}, values);
}

TEST(c_decoded, every_element_of_a_batch_in_pixels) {
  const auto decoder = decoder_of(document(5, ""));
  EXPECT_EQ(hal_decoder_normalized_boxes(decoder), 0);
  const auto head = heads(3, {.9F});
  const hal_tensor* outputs[] = {head};
  std::size_t count = 0;
  ASSERT_DONE(hal_decoder_batch_size(decoder, outputs, 1, &count));
  ASSERT_EQ(count, 3U);
  for (std::size_t i = 0; i < count; ++i) {
    const auto decoded = decode(decoder, head, i);
    ASSERT_TRUE(decoded) << hal_last_error();
    const hal_detect_box box = only_box(Boxes(hal_decoded_take_boxes(decoded)));
    EXPECT_FLOAT_EQ(box.xmin, 16 * static_cast<float>(i + 1) - 4);
    EXPECT_FLOAT_EQ(box.ymax, 20);
    EXPECT_ERRNO(nullptr, EINVAL, hal_decoded_take_boxes(decoded));
    const Masks masks(hal_decoded_take_masks(decoded));
    const Tracks tracks(hal_decoded_take_tracks(decoded));
    EXPECT_TRUE(masks != nullptr && tracks != nullptr);
    EXPECT_EQ(hal_segmentation_list_len(masks), 0U);
    EXPECT_EQ(hal_track_info_list_len(tracks), 0U);
  }
  for (const std::size_t batch : {count, SIZE_MAX})
    EXPECT_ERRNO(nullptr, EINVAL, decode(decoder, head, batch));
  hal_detect_box_list* first = nullptr;  // a call that names no element drops none
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_decode(decoder, outputs, 1, &first, nullptr));
  EXPECT_EQ(first, nullptr);
}

TEST(c_decoded, keypoints_with_and_without_a_tracker) {
  const auto decoder = decoder_of(document(11, R"("task": "pose", "kpt_shape": [2, 3], )"));
  const auto head = heads(1, {.9F, .25F, .5F, .75F, .5F, .25F, 1});
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  for (hal_bytetrack* with : {static_cast<hal_bytetrack*>(nullptr), tracker.get()}) {
    const auto decoded = decode(decoder, head, 0, with, 1000);
    ASSERT_TRUE(decoded) << hal_last_error();
    ASSERT_EQ(hal_decoded_keypoints_each(decoded), 2U);
    hal_keypoint point;
    ASSERT_DONE(hal_decoded_get_keypoint(decoded, 0, 1, &point));
    EXPECT_FLOAT_EQ(point.x, 32);
    EXPECT_FLOAT_EQ(point.y, 8);
    EXPECT_FLOAT_EQ(point.score, 1);
    EXPECT_EQ(hal_decoded_get_keypoint(decoded, 1, 0, &point), -1);
    EXPECT_EQ(hal_decoded_get_keypoint(decoded, 0, 2, &point), -1);
    const Tracks tracks(hal_decoded_take_tracks(decoded));
    EXPECT_EQ(hal_track_info_list_len(tracks), with == nullptr ? 0U : 1U);
  }
  EXPECT_FALSE(decode(decoder, head, 0, tracker, 5));
}

TEST(c_decoded, rotated_boxes) {
  const auto decoder = decoder_of(document(6, R"("task": "obb", )"));
  const auto decoded = decode(decoder, heads(1, {.9F, .5F}));
  ASSERT_EQ(hal_decoded_rotated_count(decoded), 1U) << hal_last_error();
  hal_rotated_box box;
  ASSERT_DONE(hal_decoded_get_rotated(decoded, 0, &box));
  EXPECT_FLOAT_EQ(box.cx, 16);
  EXPECT_FLOAT_EQ(box.width, 8);
  EXPECT_FLOAT_EQ(box.angle, .5F);
  EXPECT_EQ(hal_decoded_get_rotated(decoded, 1, &box), -1);
  EXPECT_EQ(hal_decoded_class_count(decoded), 0U);
}

TEST(c_decoded, classes_of_the_image) {
  const auto decoder = decoder_of(
      R"({"schema_version": 2, "outputs": [{"type": "classification", "shape": [1, 3]}]})");
  const auto decoded = decode(decoder, tensor_of({1, 3}, {.1F, .2F, .7F}));
  ASSERT_EQ(hal_decoded_class_count(decoded), 3U) << hal_last_error();
  hal_class_score first;
  ASSERT_DONE(hal_decoded_get_class(decoded, 0, &first));
  EXPECT_EQ(first.label, 2U);
  EXPECT_FLOAT_EQ(first.score, .7F);
  EXPECT_EQ(hal_decoded_get_class(decoded, 3, &first), -1);
}

TEST(c_decoded, what_cannot_be_known_is_refused) {
  const auto params = params_of(document(5, ""));
  const Owned<hal_decoder> decoder(hal_decoder_new(params));
  EXPECT_ERROR(nullptr, EINVAL, "quantization",
               decode(decoder, make_tensor(HAL_DTYPE_I8, {1, 5, boxes})));
  ASSERT_DONE(hal_decoder_params_set_score_threshold(params, 1.5F));
  EXPECT_ERROR(nullptr, EINVAL, "score_threshold", hal_decoder_new(params));
  ASSERT_DONE(hal_decoder_params_set_native(params, false));
  EXPECT_TRUE(Owned<hal_decoder>(hal_decoder_new(params))) << "nothing passes, as there";
}

TEST(c_decoded, a_batch_that_is_not_described_is_refused_by_the_reference_too) {
  const auto params = params_of(document(5, ""));
  ASSERT_DONE(hal_decoder_params_set_native(params, false));
  const Owned<hal_decoder> decoder(hal_decoder_new(params));
  const auto head = heads(2, {.9F});
  const hal_tensor* outputs[] = {head};
  hal_detect_box_list* found = nullptr;
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_decode(decoder, outputs, 1, &found, nullptr));
}

// Whether columns [first, last) of an image of 64 x 32 hold anything but black.
bool is_drawn(hal_tensor* image, std::size_t first, std::size_t last) {
  const auto bytes = bytes_of(image);
  for (std::size_t y = 0; y < 32; ++y)
    for (std::size_t x = 4 * first; x < 4 * last; ++x)
      if (bytes[y * 4 * 64 + x] != 0) return true;
  return false;
}

TEST(c_decoded, any_element_of_a_batch_is_drawn_and_tracked) {
  const auto decoder = decoder_of(document(5, ""));
  const Processor processor(hal_image_processor_new());
  const Tensor image = make_image(64, 32, HAL_PIXEL_FORMAT_RGBA);
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  const auto head = heads(3, {.9F});
  const hal_tensor* outputs[] = {head};
  hal_detect_box_list* found = nullptr;
  hal_track_info_list* tracks = nullptr;
  const auto draw = [&](std::size_t batch, hal_bytetrack* by) {
    return hal_image_processor_draw_masks_element(processor, decoder, outputs, 1, batch, by, 1,
                                                  image, nullptr, 1, nullptr, HAL_COLOR_MODE_CLASS,
                                                  &found, &tracks);
  };
  for (const bool is_tracked : {false, true}) {
    for (const std::size_t batch : {0, 1, 2}) {  // boxes about columns 16, 32, 48
      const Owned<hal_bytetrack> fresh(hal_bytetrack_new_default());
      ASSERT_DONE(draw(batch, is_tracked ? fresh.get() : nullptr));
      const Tracks infos(tracks);
      EXPECT_EQ(tracks != nullptr, is_tracked);
      EXPECT_FLOAT_EQ(only_box(Boxes(found)).xmin, 16 * static_cast<float>(batch + 1) - 4);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(is_drawn(image, 16 * i + 10, 16 * i + 22), i == batch) << batch;
    }
  }
  EXPECT_ERRNO(-1, EINVAL, draw(3, nullptr));
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(draw(3, tracker), -1);
}

TEST(c_decoded, automatic_suppression_is_within_a_class_of_native_parameters_alone) {
  // Two boxes that overlap by two thirds, each of a class of its own.
  std::vector<float> values(6 * boxes, 0.0F);
  const std::vector<std::vector<float>> columns{{.5F, .5F, .5F, .5F, .9F, 0},
                                                {.6F, .5F, .5F, .5F, 0, .8F}};
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (std::size_t row = 0; row < 6; ++row)
      values[row * boxes + column] = columns[column][row];
  const auto head = tensor_of({1, 6, boxes}, values);
  const hal_tensor* outputs[] = {head};
  for (const bool native : {false, true}) {
    const auto params = params_of(document(6, ""));
    ASSERT_DONE(hal_decoder_params_set_nms(params, HAL_NMS_AUTO));
    ASSERT_DONE(hal_decoder_params_set_native(params, native));
    const Owned<hal_decoder> decoder(hal_decoder_new(params));
    ASSERT_TRUE(decoder) << hal_last_error();
    Boxes found;
    ASSERT_DONE(hal_decoder_decode(decoder, outputs, 1, found.out(), nullptr));
    EXPECT_EQ(hal_detect_box_list_len(found), native ? 2U : 1U);
  }
}

// Centres and extents in two int8 tensors of their own scales, scores in u8, padding last.
constexpr char halves[] = R"({"schema_version": 2, "input": {"shape": [1, 3, 32, 64]}, "outputs": [
  {"type": "boxes", "normalized": true, "shape": [1, 4, 5, 1],
   "dshape": [["batch", 1], ["box_coords", 4], ["num_boxes", 5], ["padding", 1]], "outputs": [
    {"name": "xy", "type": "boxes_xy", "shape": [1, 2, 5, 1], "dtype": "int8",
     "dshape": [["batch", 1], ["box_coords", 2], ["num_boxes", 5], ["padding", 1]],
     "quantization": {"scale": 0.01, "zero_point": 10}},
    {"name": "wh", "type": "boxes_wh", "shape": [1, 2, 5, 1], "dtype": "int8",
     "dshape": [["batch", 1], ["box_coords", 2], ["num_boxes", 5], ["padding", 1]],
     "quantization": {"scale": 0.005, "zero_point": -20}}]},
  {"type": "scores", "shape": [1, 3, 5, 1], "dtype": "uint8",
   "dshape": [["batch", 1], ["num_classes", 3], ["num_boxes", 5], ["padding", 1]],
   "quantization": {"scale": 0.00390625, "zero_point": 0}}]})";

TEST(c_decoded, boxes_whose_centres_and_extents_are_quantized_apart) {
  for (const bool native : {false, true}) {
    const auto params = params_of(halves);
    ASSERT_DONE(hal_decoder_params_set_native(params, native));
    const Owned<hal_decoder> decoder(hal_decoder_new(params));
    ASSERT_TRUE(decoder) << hal_last_error();
    const auto xy =
        tensor_of<std::int8_t>(HAL_DTYPE_I8, {1, 2, 5, 1}, {0, 0, 0, 50, 0, 0, 0, 0, 60, 0});
    const auto wh =
        tensor_of<std::int8_t>(HAL_DTYPE_I8, {1, 2, 5, 1}, {0, 0, 0, 20, 0, 0, 0, 0, 0, 0});
    std::vector<std::uint8_t> values(15, 0);
    values[5 + 3] = 192;  // 0.75, of class 1
    const auto scores = tensor_of<std::uint8_t>(HAL_DTYPE_U8, {1, 3, 5, 1}, values);
    const hal_tensor* outputs[] = {xy, wh, scores};
    Boxes found;
    ASSERT_DONE(hal_decoder_decode(decoder, outputs, 3, found.out(), nullptr));
    const hal_detect_box box = only_box(found);
    const float width = native ? 64 : 1, height = native ? 32 : 1;
    EXPECT_NEAR(box.xmin, .3F * width, 1e-5F * width);
    EXPECT_NEAR(box.ymin, .45F * height, 1e-5F * height);
    EXPECT_NEAR(box.xmax, .5F * width, 1e-5F * width);
    EXPECT_NEAR(box.ymax, .55F * height, 1e-5F * height);
    EXPECT_FLOAT_EQ(box.score, .75F);
    EXPECT_EQ(box.label, 1U);
  }
}

}  // namespace
}  // namespace halyard::test
