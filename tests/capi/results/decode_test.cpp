// SPDX-License-Identifier: Apache-2.0
// Decoding, masks, drawing, tracking and tiles through the C interface.
#include <gtest/gtest.h>

#include <cmath>

#include "decoding.h"
#include "halyard/log.h"

namespace {

using namespace halyard::test;

TEST_F(c_decoder, gives_boxes_and_masks) {
  Boxes boxes;
  Masks masks;
  errno = 77;
  ASSERT_DONE(hal_decoder_decode(decoder, outputs.data(), 2, boxes.out(), masks.out()));
  EXPECT_EQ(errno, 77);
  ASSERT_EQ(hal_detect_box_list_len(boxes), 2U);
  hal_detect_box box = box_at(boxes, 1);
  EXPECT_FLOAT_EQ(box.xmin, .1F);
  EXPECT_FLOAT_EQ(box.ymax, .4F);
  EXPECT_EQ(box.label, 1U);
  EXPECT_FLOAT_EQ(box.score, .8F);
  ASSERT_EQ(hal_segmentation_list_len(masks), 2U);
  std::size_t height = 0, width = 0;
  const std::uint8_t* const mask = hal_segmentation_list_get_mask(masks, 0, &height, &width);
  EXPECT_EQ(height, 4U);
  EXPECT_EQ(width, 4U);
  EXPECT_EQ(mask[0], 3);  // round(255 sigmoid(-4.5))
  EXPECT_EQ(mask[3], 252);
  float edge[4];
  ASSERT_DONE(hal_segmentation_list_get_bbox(masks, 0, edge, edge + 1, edge + 2, edge + 3));
  EXPECT_EQ(edge[0], .25F);
  EXPECT_EQ(edge[3], .75F);
  const Tensor map(hal_segmentation_to_mask(masks, 0));
  EXPECT_EQ(bytes_of(map)[1], 0);
  EXPECT_EQ(bytes_of(map)[2], 1);
  EXPECT_ERRNO(-1, EINVAL, hal_detect_box_list_get(boxes, 2, &box));
  EXPECT_EQ(hal_segmentation_list_get_mask(masks, 2, nullptr, nullptr), nullptr);
  // Masks need not be wanted.
  ASSERT_DONE(hal_decoder_decode(decoder, outputs.data(), 2, boxes.out(), nullptr));
}

TEST_F(c_decoder, tells_what_it_is) {
  EXPECT_STREQ(Owned<char>(hal_decoder_model_type(decoder)), "yolo_seg_det");
  EXPECT_EQ(hal_decoder_normalized_boxes(decoder), -1);
  std::size_t width = 9, height = 9;
  EXPECT_EQ(hal_decoder_input_dims(decoder, &width, &height), 0);
  EXPECT_EQ(width, 9U);
  ASSERT_DONE(hal_decoder_params_set_input_dims(params, 640, 320));
  ASSERT_EQ(hal_decoder_params_output_set_normalized(params, 0, 1), 0);
  const Owned<hal_decoder> other(hal_decoder_new(params));
  EXPECT_EQ(hal_decoder_normalized_boxes(other), 1);
  EXPECT_EQ(hal_decoder_input_dims(other, &width, &height), 1);
  EXPECT_EQ(width, 640U);
  EXPECT_EQ(height, 320U);
}

TEST_F(c_decoder, gives_prototypes_once) {
  Boxes boxes;
  const auto data = decode_proto(boxes);
  ASSERT_NE(data, nullptr) << hal_last_error();
  EXPECT_EQ(hal_proto_data_layout(data), HAL_PROTO_LAYOUT_NHWC);
  const Masks masks(hal_image_processor_materialize_masks(processor, boxes, data, nullptr));
  ASSERT_EQ(hal_segmentation_list_len(masks), 2U);
  EXPECT_EQ(hal_segmentation_list_get_mask(masks, 0, nullptr, nullptr)[3], 255);
  std::size_t width = 0, height = 0;
  const Masks scaled(
      hal_image_processor_materialize_masks_scaled(processor, boxes, data, nullptr, 64, 32));
  ASSERT_NE(hal_segmentation_list_get_mask(scaled, 0, &height, &width), nullptr);
  EXPECT_EQ(width, 32U);
  EXPECT_EQ(height, 16U);
  const Tensor coefficients(hal_proto_data_take_mask_coefficients(data));
  EXPECT_EQ(hal_tensor_len(coefficients), 4U);
  const Tensor taken(hal_proto_data_take_protos(data));
  EXPECT_EQ(hal_tensor_len(taken), 128U);
  EXPECT_ERRNO(nullptr, EINVAL, hal_proto_data_take_protos(data));
  EXPECT_EQ(hal_proto_data_take_mask_coefficients(data), nullptr);
}

TEST_F(c_decoder, draws_over_all_of_the_image) {
  const std::uint8_t colors[2][4] = {{250, 0, 0, 255}, {0, 0, 200, 255}};
  ASSERT_DONE(hal_image_processor_set_class_colors(processor, colors, 2));
  paint(image, 77);
  Boxes boxes;
  ASSERT_DONE(hal_image_processor_draw_masks(processor, decoder, outputs.data(), 2, image, nullptr,
                                             1, nullptr, HAL_COLOR_MODE_CLASS, boxes.out()));
  EXPECT_EQ(hal_detect_box_list_len(boxes), 2U);
  EXPECT_EQ(pixel(0, 31), (std::vector<std::uint8_t>{0, 0, 0, 0}));
  EXPECT_EQ(pixel(9, 20), (std::vector<std::uint8_t>{250, 0, 0, 0}));   // outline, beside the box
  EXPECT_EQ(pixel(28, 20), (std::vector<std::uint8_t>{250, 0, 0, 0}));  // mask
  EXPECT_EQ(pixel(15, 20), (std::vector<std::uint8_t>{0, 0, 0, 0}));    // mask is off
  // The same from decoded masks and from prototypes.
  const auto fused = bytes_of(image);
  Boxes again;
  const auto data = decode_proto(again);
  ASSERT_DONE(hal_image_processor_draw_proto_masks(processor, image, again, data, nullptr, 1,
                                                   nullptr, HAL_COLOR_MODE_CLASS));
  EXPECT_EQ(bytes_of(image), fused);
  // Nothing to draw: the background alone.
  const Tensor background = make_image(40, 32, HAL_PIXEL_FORMAT_RGBA);
  ASSERT_DONE(hal_image_processor_draw_decoded_masks(processor, image, nullptr, nullptr, background,
                                                     .5F, nullptr, HAL_COLOR_MODE_INSTANCE));
  EXPECT_EQ(bytes_of(image), bytes_of(background));
  EXPECT_ERRNO(-1, EINVAL,
               hal_image_processor_draw_decoded_masks(processor, image, nullptr, nullptr, image,
                                                      .5F, nullptr, HAL_COLOR_MODE_INSTANCE));
  EXPECT_EQ(hal_image_processor_draw_decoded_masks(processor, image, nullptr, nullptr, nullptr, .5F,
                                                   nullptr, hal_color_mode(9)),
            -1);
}

TEST_F(c_decoder, tracks) {
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  Boxes boxes;
  Masks masks;
  Tracks tracks;
  ASSERT_DONE(hal_decoder_decode_tracked(decoder, tracker, 1000, outputs.data(), 2, boxes.out(),
                                         masks.out(), tracks.out()));
  ASSERT_EQ(hal_track_info_list_len(tracks), 2U);
  hal_track_info first, second;
  ASSERT_DONE(hal_track_info_list_get(tracks, 0, &first));
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(first.created, 1000U);
  char text[37];
  ASSERT_DONE(hal_uuid_to_string(&first.uuid, text, sizeof text));
  EXPECT_EQ(std::strlen(text), 36U);
  EXPECT_EQ(hal_uuid_to_string(&first.uuid, text, 36), -1);
  ASSERT_DONE(hal_image_processor_draw_masks_tracked(processor, decoder, tracker, 34'000'000,
                                                     outputs.data(), 2, image, nullptr, 1, nullptr,
                                                     HAL_COLOR_MODE_TRACK, nullptr, nullptr));
  const Tracks active(hal_bytetrack_get_active_tracks(tracker));
  ASSERT_EQ(hal_track_info_list_len(active), 2U);
  ASSERT_DONE(hal_track_info_list_get(active, 0, &second));
  EXPECT_EQ(std::memcmp(first.uuid, second.uuid, 16), 0);
  EXPECT_EQ(second.count, 2);
  EXPECT_EQ(hal_bytetrack_left_out(tracker), 0U);
  EXPECT_ERRNO(nullptr, EINVAL, hal_bytetrack_update(tracker, boxes, 5));
}

TEST(c_tracker, says_how_many_boxes_it_leaves_out) {
  std::vector<hal_detect_box> boxes;
  for (int i = 0; i < 1003; ++i) {
    const float x = static_cast<float>(i % 40) / 40;
    const float y = static_cast<float>(i / 40) / 40;
    boxes.push_back({x, y, x + .01F, y + .01F, .9F, 0});
  }
  const Boxes many(hal_detect_box_list_new(boxes.data(), boxes.size()));
  const Boxes few(hal_detect_box_list_new(boxes.data(), 1000));
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  EXPECT_EQ(hal_bytetrack_left_out(tracker), 0U);
  const Tracks first(hal_bytetrack_update(tracker, many, 1));
  EXPECT_EQ(hal_bytetrack_left_out(tracker), 3U);
  EXPECT_EQ(hal_track_info_list_len(first), 1003U);
  const Tracks second(hal_bytetrack_update(tracker, few, 2));
  EXPECT_EQ(hal_bytetrack_left_out(tracker), 0U);
}

TEST(c_decoders, are_made_from_exactly_one_configuration) {
  const Owned<hal_decoder_params> params(hal_decoder_params_new());
  EXPECT_ERRNO(nullptr, EINVAL, hal_decoder_new(params));
  ASSERT_DONE(hal_decoder_params_set_config_json(params, "{ none", 0));
  EXPECT_ERRNO(nullptr, EBADMSG, hal_decoder_new(params));
  const std::string text = R"({"outputs": [{"type": "detection", "shape": [1, 8, 50]}]} rest)";
  ASSERT_DONE(hal_decoder_params_set_config_json(params, text.c_str(), text.size() - 5));
  EXPECT_TRUE(Owned<hal_decoder>(hal_decoder_new(params))) << hal_last_error();
  ASSERT_DONE(hal_decoder_params_set_config_file(params, "/nowhere.json"));
  EXPECT_ERRNO(nullptr, EINVAL, hal_decoder_new(params));
  const Owned<hal_decoder_params> file(hal_decoder_params_new());
  ASSERT_DONE(hal_decoder_params_set_config_file(file, "/nowhere.json"));
  EXPECT_ERRNO(nullptr, ENOENT, hal_decoder_new(file));
  EXPECT_ERRNO(-1, EINVAL, add_output(params, HalOutputType(8), {3}));
  EXPECT_EQ(hal_decoder_params_set_score_threshold(params, std::nanf("")), -1);
  EXPECT_EQ(hal_decoder_params_output_set_quantization(params, 0, 1, 0), -1);
}

TEST(c_tiles, cover_a_frame_and_come_together) {
  const Owned<hal_tile_spec_list> grid(hal_tile_grid(640, 1920, 640, 640, .1F));
  ASSERT_EQ(hal_tile_spec_list_len(grid), 4U);
  hal_tile_spec spec;
  ASSERT_DONE(hal_tile_spec_list_get(grid, 2, &spec));
  EXPECT_EQ(spec.source.x, 853U);
  EXPECT_EQ(spec.col, 2U);
  EXPECT_EQ(spec.row, 0U);

  const Processor processor(hal_image_processor_new());
  hal_tiling_config config = hal_tiling_config_default(32, 16);
  const Tensor source = make_image(64, 24, HAL_PIXEL_FORMAT_RGB);
  const auto batch_of = [&](std::size_t tiles) {
    return Tensor(hal_image_processor_alloc_tile_batch(
        processor, tiles, &config, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM,
        HAL_CPU_ACCESS_READ_WRITE));
  };
  const Owned<hal_tile_placement_list> plan(
      hal_image_processor_plan_tiles(processor, 64, 24, &config));
  const std::size_t count = hal_tile_placement_list_len(plan);
  ASSERT_EQ(count, 6U);
  const Tensor batch = batch_of(count);
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(hal_tensor_height(batch), 6U * 16);
  const Owned<hal_tile_placement_list> tiles(
      hal_image_processor_tile_into(processor, source, batch, &config));
  ASSERT_EQ(hal_tile_placement_list_len(tiles), count) << hal_last_error();
  EXPECT_ERRNO(nullptr, EINVAL,
               hal_image_processor_tile_into(processor, source, batch_of(count - 1), &config));

  hal_merge_config merge = hal_merge_config_default();
  hal_tiled_frame_accumulator* const accumulator =
      hal_tiled_frame_accumulator_new(64, 24, count, &merge, 4);
  const hal_detect_box box{.5F, .25F, 1, .75F, .9F, 3};
  const Boxes boxes(hal_detect_box_list_new(&box, 1));
  for (std::size_t i = 0; i < count; ++i) {
    hal_tile_placement tile;
    ASSERT_DONE(hal_tile_placement_list_get(tiles, i, &tile));
    ASSERT_EQ(
        hal_tiled_frame_accumulator_push_tile(accumulator, i == 0 ? boxes.get() : nullptr, &tile),
        1);
    EXPECT_EQ(hal_tiled_frame_accumulator_push_tile(accumulator, nullptr, &tile), 0);
    EXPECT_EQ(hal_tiled_frame_accumulator_remaining(accumulator), count - 1 - i);
  }
  EXPECT_TRUE(hal_tiled_frame_accumulator_is_complete(accumulator));
  const Boxes merged(hal_tiled_frame_accumulator_finalize(accumulator));
  const hal_detect_box found = only_box(merged);
  EXPECT_EQ(found.xmin, 16);
  EXPECT_EQ(found.ymin, 4);
  EXPECT_EQ(found.label, 3U);
  merge.metric = 7;
  EXPECT_EQ(hal_merge_tiled_detections(boxes, &merge), nullptr);
  merge.metric = HAL_MATCH_METRIC_IOS;
  const Boxes none(hal_merge_tiled_detections(nullptr, &merge));
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(hal_detect_box_list_len(none), 0U);
}

TEST(c_lists, refuse_what_they_cannot_hold) {
  const hal_detect_box box{0, 0, 1, 1, 1, std::size_t{1} << 31};
  EXPECT_ERRNO(nullptr, EINVAL, hal_detect_box_list_new(&box, 1));
  EXPECT_EQ(hal_detect_box_list_new(nullptr, 1), nullptr);
  EXPECT_TRUE(Boxes(hal_detect_box_list_new(nullptr, 0)));
}

TEST(c_system, records_one_trace_at_a_time) {
  const std::string path = ::testing::TempDir() + "halyard_capi_trace.json";
  ASSERT_DONE(hal_start_tracing(path.c_str()));
  EXPECT_EQ(hal_is_tracing_active(), 1);
  EXPECT_ERRNO(-1, EALREADY, hal_start_tracing(path.c_str()));
  hal_stop_tracing();
  EXPECT_EQ(hal_is_tracing_active(), 0);
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(c_system, takes_one_log) {
  const auto sink = [](hal_log_level, const char*, const char*, void*) {};
  EXPECT_ERRNO(-1, EINVAL, hal_log_init_callback(sink, nullptr, hal_log_level(0)));
  EXPECT_DONE(hal_log_init_callback(sink, nullptr, HAL_LOG_LEVEL_ERROR));
  EXPECT_ERRNO(-1, EALREADY, hal_log_init_file(stderr, HAL_LOG_LEVEL_ERROR));
}

// A process takes one log, so the child is a process of its own.
TEST(c_system_death_test, a_log_file_holds_no_byte_that_a_terminal_obeys) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto say = [] {
    const bool has_begun = hal_log_init_file(stderr, HAL_LOG_LEVEL_ERROR) == 0;
    halyard::log(halyard::LogLevel::error,
                 "cod\x1b"
                 "ec",
                 "a\x1b[2J b\nc\xc2\x9b d \xff \xe2\x80\xae");
    std::exit(has_begun ? 0 : 1);
  };
  EXPECT_EXIT(say(), testing::ExitedWithCode(0),
              R"(\[error cod\\x1bec\] a\\x1b\[2J b\\x0ac\\u009b d \\xff \\u202e)");
}

}  // namespace
