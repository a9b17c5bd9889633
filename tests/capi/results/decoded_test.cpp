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
  EXPECT_EQ(hal_decoder_params_set_config_json(params.get(), text.c_str(), text.size()), 0);
  EXPECT_EQ(hal_decoder_params_set_native(params.get(), true), 0);
  return params;
}

// A batch of `images`, each with one box; its x is i / 4 of the input.
Owned<hal_tensor> heads(std::size_t images, const std::vector<float>& rest) {
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
  const auto params = params_of(document(5, ""));
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  ASSERT_NE(decoder, nullptr) << hal_last_error();
  EXPECT_EQ(hal_decoder_normalized_boxes(decoder.get()), 0);
  const auto head = heads(3, {.9F});
  const hal_tensor* outputs[] = {head.get()};
  std::size_t count = 0;
  ASSERT_EQ(hal_decoder_batch_size(decoder.get(), outputs, 1, &count), 0);
  ASSERT_EQ(count, 3U);
  for (std::size_t i = 0; i < count; ++i) {
    const Owned<hal_decoded> decoded(
        hal_decoder_decode_element(decoder.get(), outputs, 1, i, nullptr, 0));
    ASSERT_NE(decoded, nullptr) << hal_last_error();
    const Owned<hal_detect_box_list> found(hal_decoded_take_boxes(decoded.get()));
    ASSERT_EQ(hal_detect_box_list_len(found.get()), 1U);
    hal_detect_box box;
    ASSERT_EQ(hal_detect_box_list_get(found.get(), 0, &box), 0);
    EXPECT_FLOAT_EQ(box.xmin, 16 * static_cast<float>(i + 1) - 4);
    EXPECT_FLOAT_EQ(box.ymax, 20);
    errno = 0;
    EXPECT_EQ(hal_decoded_take_boxes(decoded.get()), nullptr);
    EXPECT_EQ(errno, EINVAL);
    const Owned<hal_segmentation_list> masks(hal_decoded_take_masks(decoded.get()));
    const Owned<hal_track_info_list> tracks(hal_decoded_take_tracks(decoded.get()));
    EXPECT_TRUE(masks != nullptr && tracks != nullptr);
    EXPECT_EQ(hal_segmentation_list_len(masks.get()), 0U);
    EXPECT_EQ(hal_track_info_list_len(tracks.get()), 0U);
  }
  for (const std::size_t batch : {count, SIZE_MAX}) {
    errno = 0;
    EXPECT_EQ(hal_decoder_decode_element(decoder.get(), outputs, 1, batch, nullptr, 0), nullptr);
    EXPECT_EQ(errno, EINVAL);
  }
  hal_detect_box_list* first = nullptr;  // a call that names no element drops none
  errno = 0;
  EXPECT_EQ(hal_decoder_decode(decoder.get(), outputs, 1, &first, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(first, nullptr);
}

TEST(c_decoded, keypoints_with_and_without_a_tracker) {
  const auto params = params_of(document(11, R"("task": "pose", "kpt_shape": [2, 3], )"));
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  ASSERT_NE(decoder, nullptr) << hal_last_error();
  const auto head = heads(1, {.9F, .25F, .5F, .75F, .5F, .25F, 1});
  const hal_tensor* outputs[] = {head.get()};
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  for (hal_bytetrack* with : {static_cast<hal_bytetrack*>(nullptr), tracker.get()}) {
    const Owned<hal_decoded> decoded(
        hal_decoder_decode_element(decoder.get(), outputs, 1, 0, with, 1000));
    ASSERT_NE(decoded, nullptr) << hal_last_error();
    ASSERT_EQ(hal_decoded_keypoints_each(decoded.get()), 2U);
    hal_keypoint point;
    ASSERT_EQ(hal_decoded_get_keypoint(decoded.get(), 0, 1, &point), 0);
    EXPECT_FLOAT_EQ(point.x, 32);
    EXPECT_FLOAT_EQ(point.y, 8);
    EXPECT_FLOAT_EQ(point.score, 1);
    EXPECT_EQ(hal_decoded_get_keypoint(decoded.get(), 1, 0, &point), -1);
    EXPECT_EQ(hal_decoded_get_keypoint(decoded.get(), 0, 2, &point), -1);
    const Owned<hal_track_info_list> tracks(hal_decoded_take_tracks(decoded.get()));
    EXPECT_EQ(hal_track_info_list_len(tracks.get()), with == nullptr ? 0U : 1U);
  }
  EXPECT_EQ(hal_decoder_decode_element(decoder.get(), outputs, 1, 0, tracker.get(), 5), nullptr);
}

TEST(c_decoded, rotated_boxes) {
  const auto params = params_of(document(6, R"("task": "obb", )"));
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  ASSERT_NE(decoder, nullptr) << hal_last_error();
  const auto head = heads(1, {.9F, .5F});
  const hal_tensor* outputs[] = {head.get()};
  const Owned<hal_decoded> decoded(
      hal_decoder_decode_element(decoder.get(), outputs, 1, 0, nullptr, 0));
  ASSERT_EQ(hal_decoded_rotated_count(decoded.get()), 1U) << hal_last_error();
  hal_rotated_box box;
  ASSERT_EQ(hal_decoded_get_rotated(decoded.get(), 0, &box), 0);
  EXPECT_FLOAT_EQ(box.cx, 16);
  EXPECT_FLOAT_EQ(box.width, 8);
  EXPECT_FLOAT_EQ(box.angle, .5F);
  EXPECT_EQ(hal_decoded_get_rotated(decoded.get(), 1, &box), -1);
  EXPECT_EQ(hal_decoded_class_count(decoded.get()), 0U);
}

TEST(c_decoded, classes_of_the_image) {
  const std::string text =
      R"({"schema_version": 2, "outputs": [{"type": "classification", "shape": [1, 3]}]})";
  const auto params = params_of(text);
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  ASSERT_NE(decoder, nullptr) << hal_last_error();
  const auto scores = tensor_of({1, 3}, {.1F, .2F, .7F});
  const hal_tensor* outputs[] = {scores.get()};
  const Owned<hal_decoded> decoded(
      hal_decoder_decode_element(decoder.get(), outputs, 1, 0, nullptr, 0));
  ASSERT_EQ(hal_decoded_class_count(decoded.get()), 3U) << hal_last_error();
  hal_class_score first;
  ASSERT_EQ(hal_decoded_get_class(decoded.get(), 0, &first), 0);
  EXPECT_EQ(first.label, 2U);
  EXPECT_FLOAT_EQ(first.score, .7F);
  EXPECT_EQ(hal_decoded_get_class(decoded.get(), 3, &first), -1);
}

TEST(c_decoded, what_cannot_be_known_is_refused) {
  const auto params = params_of(document(5, ""));
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  const std::size_t shape[] = {1, 5, boxes};
  const Owned<hal_tensor> bare(
      hal_tensor_new(HAL_DTYPE_I8, shape, 3, HAL_TENSOR_MEMORY_MEM, nullptr));
  const hal_tensor* outputs[] = {bare.get()};
  errno = 0;
  EXPECT_EQ(hal_decoder_decode_element(decoder.get(), outputs, 1, 0, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_NE(std::string(hal_last_error()).find("quantization"), std::string::npos);
  ASSERT_EQ(hal_decoder_params_set_score_threshold(params.get(), 1.5F), 0);
  errno = 0;
  EXPECT_EQ(hal_decoder_new(params.get()), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_NE(std::string(hal_last_error()).find("score_threshold"), std::string::npos);
  ASSERT_EQ(hal_decoder_params_set_native(params.get(), false), 0);
  const Owned<hal_decoder> reference(hal_decoder_new(params.get()));
  EXPECT_NE(reference, nullptr);  // nothing passes, as there
}

TEST(c_decoded, a_batch_that_is_not_described_is_refused_by_the_reference_too) {
  const auto params = params_of(document(5, ""));
  ASSERT_EQ(hal_decoder_params_set_native(params.get(), false), 0);
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  const auto head = heads(2, {.9F});
  const hal_tensor* outputs[] = {head.get()};
  hal_detect_box_list* found = nullptr;
  errno = 0;
  EXPECT_EQ(hal_decoder_decode(decoder.get(), outputs, 1, &found, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
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
  const auto params = params_of(document(5, ""));
  const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
  const Owned<hal_image_processor> processor(hal_image_processor_new());
  const Owned<hal_tensor> image(
      hal_tensor_new_image(64, 32, HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM));
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  const auto head = heads(3, {.9F});
  const hal_tensor* outputs[] = {head.get()};
  hal_detect_box_list* found = nullptr;
  hal_track_info_list* tracks = nullptr;
  const auto draw = [&](std::size_t batch, hal_bytetrack* by) {
    return hal_image_processor_draw_masks_element(processor.get(), decoder.get(), outputs, 1, batch,
                                                  by, 1, image.get(), nullptr, 1, nullptr,
                                                  HAL_COLOR_MODE_CLASS, &found, &tracks);
  };
  for (const bool is_tracked : {false, true}) {
    for (const std::size_t batch : {0, 1, 2}) {  // boxes about columns 16, 32, 48
      const Owned<hal_bytetrack> fresh(hal_bytetrack_new_default());
      ASSERT_EQ(draw(batch, is_tracked ? fresh.get() : nullptr), 0) << hal_last_error();
      const Owned<hal_detect_box_list> boxes(found);
      const Owned<hal_track_info_list> infos(tracks);
      EXPECT_EQ(infos != nullptr, is_tracked);
      ASSERT_EQ(hal_detect_box_list_len(boxes.get()), 1U);
      hal_detect_box box;
      ASSERT_EQ(hal_detect_box_list_get(boxes.get(), 0, &box), 0);
      EXPECT_FLOAT_EQ(box.xmin, 16 * static_cast<float>(batch + 1) - 4);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(is_drawn(image.get(), 16 * i + 10, 16 * i + 22), i == batch) << batch;
    }
  }
  errno = 0;
  EXPECT_EQ(draw(3, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(draw(3, tracker.get()), -1);
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
  const hal_tensor* outputs[] = {head.get()};
  for (const bool native : {false, true}) {
    const auto params = params_of(document(6, ""));
    ASSERT_EQ(hal_decoder_params_set_nms(params.get(), HAL_NMS_AUTO), 0);
    ASSERT_EQ(hal_decoder_params_set_native(params.get(), native), 0);
    const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
    ASSERT_NE(decoder, nullptr) << hal_last_error();
    hal_detect_box_list* found = nullptr;
    ASSERT_EQ(hal_decoder_decode(decoder.get(), outputs, 1, &found, nullptr), 0);
    const Owned<hal_detect_box_list> owned(found);
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

template <class T>
Owned<hal_tensor> stored(hal_dtype dtype, std::vector<std::size_t> shape, std::vector<T> values) {
  Owned<hal_tensor> tensor(
      hal_tensor_new(dtype, shape.data(), shape.size(), HAL_TENSOR_MEMORY_MEM, nullptr));
  hal_tensor_map* const map = hal_tensor_map_create(tensor.get());
  std::memcpy(hal_tensor_map_data(map), values.data(), values.size());
  hal_tensor_map_unmap(map);
  return tensor;
}

TEST(c_decoded, boxes_whose_centres_and_extents_are_quantized_apart) {
  for (const bool native : {false, true}) {
    const auto params = params_of(halves);
    ASSERT_EQ(hal_decoder_params_set_native(params.get(), native), 0);
    const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
    ASSERT_NE(decoder, nullptr) << hal_last_error();
    const auto xy =
        stored<std::int8_t>(HAL_DTYPE_I8, {1, 2, 5, 1}, {0, 0, 0, 50, 0, 0, 0, 0, 60, 0});
    const auto wh =
        stored<std::int8_t>(HAL_DTYPE_I8, {1, 2, 5, 1}, {0, 0, 0, 20, 0, 0, 0, 0, 0, 0});
    std::vector<std::uint8_t> values(15, 0);
    values[5 + 3] = 192;  // 0.75, of class 1
    const auto scores = stored<std::uint8_t>(HAL_DTYPE_U8, {1, 3, 5, 1}, values);
    const hal_tensor* outputs[] = {xy.get(), wh.get(), scores.get()};
    hal_detect_box_list* found = nullptr;
    ASSERT_EQ(hal_decoder_decode(decoder.get(), outputs, 3, &found, nullptr), 0)
        << hal_last_error();
    const Owned<hal_detect_box_list> owned(found);
    ASSERT_EQ(hal_detect_box_list_len(found), 1U);
    hal_detect_box box;
    ASSERT_EQ(hal_detect_box_list_get(found, 0, &box), 0);
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
