// SPDX-License-Identifier: Apache-2.0
// What a decoder's parameters do, dequantization, trackers with numbers of their own, single tiles.
#include <array>
#include <cmath>
#include <cstring>

#include "results/decoding.h"

namespace {

using namespace halyard::test;

// Three boxes of two classes: two nearly the same (0.9 and 0.8), one apart (0.7 and, of the other
// class, 0.6).
struct CapiParameters : testing::Test {
  Owned<hal_decoder_params> params{hal_decoder_params_new()};
  Tensor output = make_tensor(HAL_DTYPE_F32, {1, 6, 16});

  CapiParameters() {
    const std::array<std::array<float, 6>, 3> rows{{{.3F, .3F, .2F, .2F, .9F, 0},
                                                    {.31F, .3F, .2F, .2F, 0, .8F},
                                                    {.7F, .7F, .2F, .2F, .7F, .6F}}};
    const Map map(hal_tensor_map_create(output));
    auto* const at = static_cast<float*>(hal_tensor_map_data(map));
    for (std::size_t box = 0; box < rows.size(); ++box)
      for (std::size_t i = 0; i < 6; ++i)
        at[i * 16 + box] = rows[box][i];
    EXPECT_EQ(add_output(params, HAL_OUTPUT_TYPE_DETECTION, {1, 6, 16}), 0);
  }
  // The count of boxes that a decoder of these parameters gives.
  int boxes() const {
    const Owned<hal_decoder> decoder(hal_decoder_new(params));
    EXPECT_TRUE(decoder) << hal_last_error();
    const hal_tensor* const outputs[1] = {output};
    Boxes list;
    EXPECT_DONE(hal_decoder_decode(decoder, outputs, 1, list.out(), nullptr));
    return static_cast<int>(hal_detect_box_list_len(list));
  }
};

TEST_F(CapiParameters, choose_what_suppresses_what) {
  EXPECT_EQ(boxes(), 2) << "one of the pair";
  ASSERT_DONE(hal_decoder_params_set_nms(params, HAL_NMS_CLASS_AWARE));
  EXPECT_EQ(boxes(), 3) << "the pair is of two classes";
  ASSERT_DONE(hal_decoder_params_set_nms(params, HAL_NMS_CLASS_AGNOSTIC));
  EXPECT_EQ(boxes(), 2);
  ASSERT_DONE(hal_decoder_params_set_iou_threshold(params, 0.99F));
  EXPECT_EQ(boxes(), 3) << "they overlap less than that";
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_nms(params, static_cast<hal_nms>(4)));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_iou_threshold(params, std::nanf("")));
}

TEST_F(CapiParameters, limit_counts) {
  ASSERT_DONE(hal_decoder_params_set_nms(params, HAL_NMS_NONE));
  EXPECT_EQ(boxes(), 3);
  ASSERT_DONE(hal_decoder_params_set_max_det(params, 1));
  EXPECT_EQ(boxes(), 1);
  ASSERT_DONE(hal_decoder_params_set_max_det(params, 300));
  ASSERT_DONE(hal_decoder_params_set_nms(params, HAL_NMS_CLASS_AWARE));
  ASSERT_DONE(hal_decoder_params_set_pre_nms_top_k(params, 2));
  EXPECT_EQ(boxes(), 2) << "the best two enter";
  ASSERT_DONE(hal_decoder_params_set_pre_nms_top_k(params, 0));
  ASSERT_DONE(hal_decoder_params_set_multi_label(params, true));
  EXPECT_EQ(boxes(), 4) << "the last box is of both classes";
  ASSERT_DONE(hal_decoder_params_set_score_threshold(params, 0.65F));
  EXPECT_EQ(boxes(), 3);
}

TEST_F(CapiParameters, refuse_what_an_output_cannot_have) {
  const float anchors[2][2] = {{.1F, .1F}, {.2F, .3F}};
  EXPECT_DONE(hal_decoder_params_output_set_anchors(params, 0, anchors, 2));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_output_set_anchors(params, 1, anchors, 2));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_output_set_anchors(params, 0, nullptr, 2));
  ASSERT_EQ(add_output(params, HAL_OUTPUT_TYPE_PROTOS, {1, 8, 8, 2}), 1);
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_output_set_anchors(params, 1, anchors, 2));
  for (const auto version : {HAL_DECODER_VERSION_YOLOV5, HAL_DECODER_VERSION_YOLOV8,
                             HAL_DECODER_VERSION_YOLO11, HAL_DECODER_VERSION_YOLO26})
    EXPECT_DONE(hal_decoder_params_set_decoder_version(params, version));
  EXPECT_ERRNO(-1, EINVAL,
               hal_decoder_params_set_decoder_version(params, static_cast<HalDecoderVersion>(-1)));
}

TEST(CapiDocuments, may_be_yaml) {
  const char* const text =
      "outputs:\n"
      "  - type: detection\n"
      "    decoder: ultralytics\n"
      "    shape: [1, 6, 16]\n"
      "    dshape: [[batch, 1], [num_features, 6], [num_boxes, 16]]\n";
  for (const std::size_t len : {std::size_t{0}, std::strlen(text)}) {
    const Owned<hal_decoder_params> params(hal_decoder_params_new());
    ASSERT_DONE(hal_decoder_params_set_config_yaml(params, text, len));
    const Owned<hal_decoder> decoder(hal_decoder_new(params));
    ASSERT_TRUE(decoder) << hal_last_error();
  }
  const Owned<hal_decoder_params> params(hal_decoder_params_new());
  ASSERT_DONE(hal_decoder_params_set_config_yaml(params, "outputs: [", 0));
  EXPECT_ERRNO(nullptr, EBADMSG, hal_decoder_new(params));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_config_yaml(params, nullptr, 0));
}

TEST(CapiNumbers, become_floats) {
  const Tensor stored = tensor_of<std::int8_t>(HAL_DTYPE_I8, {1, 3}, {-1, 0, 5});
  const Tensor real = make_tensor(HAL_DTYPE_F32, {1, 3});
  ASSERT_DONE(hal_dequantize(stored, {0.5F, -1}, real));
  const Map map(hal_tensor_map_create(real));
  const auto* const floats = static_cast<const float*>(hal_tensor_map_data_const(map));
  EXPECT_EQ(floats[0], 0.0F);
  EXPECT_EQ(floats[1], 0.5F);
  EXPECT_EQ(floats[2], 3.0F);
  EXPECT_ERRNO(-1, EINVAL, hal_dequantize(stored, {0.5F, -1}, make_tensor(HAL_DTYPE_F32, {2})));
  EXPECT_ERRNO(-1, EINVAL, hal_dequantize(stored, {0.5F, -1}, stored));
  EXPECT_ERRNO(-1, EINVAL, hal_dequantize(nullptr, {0.5F, -1}, real));
}

// Tracks that a tracker follows after one frame with a box of score 0.65, and one without `pause`
// ns later.
std::array<std::size_t, 2> followed(const Owned<hal_bytetrack>& tracker, std::uint64_t pause) {
  EXPECT_TRUE(tracker) << hal_last_error();
  const hal_detect_box box{.1F, .1F, .3F, .3F, .65F, 0};
  const Boxes seen(hal_detect_box_list_new(&box, 1));
  const Boxes nothing(hal_detect_box_list_new(nullptr, 0));
  const auto active = [&](const Boxes& boxes, std::uint64_t time) {
    const Tracks updated(hal_bytetrack_update(tracker, boxes, time));
    EXPECT_TRUE(updated) << hal_last_error();
    const Tracks tracks(hal_bytetrack_get_active_tracks(tracker));
    return hal_track_info_list_len(tracks);
  };
  const std::size_t first = active(seen, 1000);
  return {first, active(nothing, 1000 + pause)};
}

TEST(CapiTracker, follows_by_its_parameters) {
  using Counts = std::array<std::size_t, 2>;
  constexpr std::uint64_t ms = 1000000;
  const auto tracker = [](float high, int rate, int buffer) {
    return Owned<hal_bytetrack>(hal_bytetrack_new(.25F, high, .25F, rate, buffer));
  };
  // 30 frames a second and a buffer of 60 frames: two seconds.
  EXPECT_EQ(followed(tracker(.6F, 30, 60), 2000 * ms), (Counts{1, 1}));
  EXPECT_EQ(followed(tracker(.6F, 30, 60), 2001 * ms), (Counts{1, 0}));
  // Without a frame rate half a second, whatever the buffer.
  EXPECT_EQ(followed(tracker(.6F, 0, 60), 500 * ms), (Counts{1, 1}));
  EXPECT_EQ(followed(tracker(.6F, 0, 60), 501 * ms), (Counts{1, 0}));
  EXPECT_EQ(followed(tracker(.7F, 30, 60), ms), (Counts{0, 0}));  // below the high threshold
  EXPECT_ERRNO(nullptr, EINVAL, hal_bytetrack_new(std::nanf(""), .7F, .25F, 30, 60));
  EXPECT_ERRNO(nullptr, EINVAL, hal_bytetrack_new(.25F, .7F, .25F, 30, -1));
}

TEST(CapiTiles, are_rendered_and_lifted_one_by_one) {
  const Processor processor(hal_image_processor_new());
  const Tensor frame = make_image(64, 32, HAL_PIXEL_FORMAT_GREY);
  const Tensor tile = make_image(32, 32, HAL_PIXEL_FORMAT_GREY);
  fill(frame, 1);
  hal_tiling_config config = hal_tiling_config_default(32, 32);
  config.overlap_ratio = 0;
  const Owned<hal_tile_placement_list> plan(
      hal_image_processor_plan_tiles(processor, 64, 32, &config));
  ASSERT_EQ(hal_tile_placement_list_len(plan), 2U);
  hal_tile_placement right{};
  ASSERT_DONE(hal_tile_placement_list_get(plan, 1, &right));
  ASSERT_DONE(hal_image_processor_tile_one(processor, frame, tile, &right, &config));
  ASSERT_DONE(hal_image_processor_flush(processor));
  EXPECT_EQ(byte_at(tile, 0), 32);
  EXPECT_ERRNO(-1, EINVAL, hal_image_processor_tile_one(processor, frame, tile, nullptr, &config));
  const hal_detect_box box{.25F, .5F, .5F, 1, .9F, 3};
  const Boxes found(hal_detect_box_list_new(&box, 1));
  const Boxes lifted(hal_lift_tile_boxes(found, &right));
  hal_detect_box got = box_at(lifted, 0);
  EXPECT_FLOAT_EQ(got.xmin, 40);
  EXPECT_FLOAT_EQ(got.ymax, 32);
  EXPECT_EQ(got.label, 3U);
  const hal_merge_config merge = hal_merge_config_default();
  auto* const all = hal_tiled_frame_accumulator_new(64, 32, 2, &merge, 4);
  ASSERT_EQ(hal_tiled_frame_accumulator_push_tile(all, found, &right), 1);
  EXPECT_EQ(hal_tiled_frame_accumulator_push_tile(all, found, &right), 0) << "twice";
  EXPECT_EQ(hal_tiled_frame_accumulator_remaining(all), 1U);
  const Boxes merged(hal_tiled_frame_accumulator_finalize_normalized(all));
  got = box_at(merged, 0);
  EXPECT_FLOAT_EQ(got.xmin, 40.0F / 64);
  EXPECT_FLOAT_EQ(got.ymax, 1);
}

}  // namespace
