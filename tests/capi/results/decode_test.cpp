// SPDX-License-Identifier: Apache-2.0
// Decoding, masks, drawing, tracking and tiles through the C interface.
#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "decoding.h"
#include "halyard/log.h"

namespace {

using namespace halyard::test;

TEST_F(c_decoder, gives_boxes_and_masks) {
  hal_detect_box_list* boxes = nullptr;
  hal_segmentation_list* masks = nullptr;
  errno = 77;
  ASSERT_EQ(hal_decoder_decode(decoder.get(), outputs.data(), 2, &boxes, &masks), 0);
  EXPECT_EQ(errno, 77);
  const Owned<hal_detect_box_list> owned(boxes);
  const Owned<hal_segmentation_list> owned_masks(masks);
  ASSERT_EQ(hal_detect_box_list_len(boxes), 2U);
  hal_detect_box box;
  ASSERT_EQ(hal_detect_box_list_get(boxes, 1, &box), 0);
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
  ASSERT_EQ(hal_segmentation_list_get_bbox(masks, 0, edge, edge + 1, edge + 2, edge + 3), 0);
  EXPECT_EQ(edge[0], .25F);
  EXPECT_EQ(edge[3], .75F);
  const Owned<hal_tensor> map(hal_segmentation_to_mask(masks, 0));
  EXPECT_EQ(bytes_of(map.get())[1], 0);
  EXPECT_EQ(bytes_of(map.get())[2], 1);
  errno = 0;
  EXPECT_EQ(hal_detect_box_list_get(boxes, 2, &box), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_segmentation_list_get_mask(masks, 2, nullptr, nullptr), nullptr);
  // Masks need not be wanted.
  ASSERT_EQ(hal_decoder_decode(decoder.get(), outputs.data(), 2, &boxes, nullptr), 0);
  hal_detect_box_list_free(boxes);
}

TEST_F(c_decoder, tells_what_it_is) {
  char* const type = hal_decoder_model_type(decoder.get());
  EXPECT_STREQ(type, "yolo_seg_det");
  std::free(type);
  EXPECT_EQ(hal_decoder_normalized_boxes(decoder.get()), -1);
  std::size_t width = 9, height = 9;
  EXPECT_EQ(hal_decoder_input_dims(decoder.get(), &width, &height), 0);
  EXPECT_EQ(width, 9U);
  ASSERT_EQ(hal_decoder_params_set_input_dims(params.get(), 640, 320), 0);
  ASSERT_EQ(hal_decoder_params_output_set_normalized(params.get(), 0, 1), 0);
  const Owned<hal_decoder> other(hal_decoder_new(params.get()));
  EXPECT_EQ(hal_decoder_normalized_boxes(other.get()), 1);
  EXPECT_EQ(hal_decoder_input_dims(other.get(), &width, &height), 1);
  EXPECT_EQ(width, 640U);
  EXPECT_EQ(height, 320U);
}

TEST_F(c_decoder, gives_prototypes_once) {
  hal_detect_box_list* boxes = nullptr;
  const Owned<hal_proto_data> data(
      hal_decoder_decode_proto(decoder.get(), outputs.data(), 2, &boxes));
  const Owned<hal_detect_box_list> owned(boxes);
  ASSERT_NE(data, nullptr) << hal_last_error();
  EXPECT_EQ(hal_proto_data_layout(data.get()), HAL_PROTO_LAYOUT_NHWC);
  const Owned<hal_segmentation_list> masks(
      hal_image_processor_materialize_masks(processor.get(), boxes, data.get(), nullptr));
  ASSERT_EQ(hal_segmentation_list_len(masks.get()), 2U);
  EXPECT_EQ(hal_segmentation_list_get_mask(masks.get(), 0, nullptr, nullptr)[3], 255);
  std::size_t width = 0, height = 0;
  const Owned<hal_segmentation_list> scaled(hal_image_processor_materialize_masks_scaled(
      processor.get(), boxes, data.get(), nullptr, 64, 32));
  ASSERT_NE(hal_segmentation_list_get_mask(scaled.get(), 0, &height, &width), nullptr);
  EXPECT_EQ(width, 32U);
  EXPECT_EQ(height, 16U);
  const Owned<hal_tensor> coefficients(hal_proto_data_take_mask_coefficients(data.get()));
  EXPECT_EQ(hal_tensor_len(coefficients.get()), 4U);
  const Owned<hal_tensor> taken(hal_proto_data_take_protos(data.get()));
  EXPECT_EQ(hal_tensor_len(taken.get()), 128U);
  errno = 0;
  EXPECT_EQ(hal_proto_data_take_protos(data.get()), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_proto_data_take_mask_coefficients(data.get()), nullptr);
}

TEST_F(c_decoder, draws_over_all_of_the_image) {
  const std::uint8_t colors[2][4] = {{250, 0, 0, 255}, {0, 0, 200, 255}};
  ASSERT_EQ(hal_image_processor_set_class_colors(processor.get(), colors, 2), 0);
  hal_tensor_map* const map = hal_tensor_map_create(image.get());
  std::memset(hal_tensor_map_data(map), 77, hal_tensor_map_size(map));
  hal_tensor_map_unmap(map);
  hal_detect_box_list* boxes = nullptr;
  ASSERT_EQ(
      hal_image_processor_draw_masks(processor.get(), decoder.get(), outputs.data(), 2, image.get(),
                                     nullptr, 1, nullptr, HAL_COLOR_MODE_CLASS, &boxes),
      0)
      << hal_last_error();
  const Owned<hal_detect_box_list> owned(boxes);
  EXPECT_EQ(hal_detect_box_list_len(boxes), 2U);
  EXPECT_EQ(pixel(0, 31), (std::vector<std::uint8_t>{0, 0, 0, 0}));
  EXPECT_EQ(pixel(9, 20), (std::vector<std::uint8_t>{250, 0, 0, 0}));   // outline, beside the box
  EXPECT_EQ(pixel(28, 20), (std::vector<std::uint8_t>{250, 0, 0, 0}));  // mask
  EXPECT_EQ(pixel(15, 20), (std::vector<std::uint8_t>{0, 0, 0, 0}));    // mask is off
  // The same from decoded masks and from prototypes.
  const auto fused = bytes_of(image.get());
  hal_detect_box_list* again = nullptr;
  const Owned<hal_proto_data> data(
      hal_decoder_decode_proto(decoder.get(), outputs.data(), 2, &again));
  const Owned<hal_detect_box_list> owned_again(again);
  ASSERT_EQ(hal_image_processor_draw_proto_masks(processor.get(), image.get(), again, data.get(),
                                                 nullptr, 1, nullptr, HAL_COLOR_MODE_CLASS),
            0);
  EXPECT_EQ(bytes_of(image.get()), fused);
  // Nothing to draw: the background alone.
  const Owned<hal_tensor> background(
      hal_tensor_new_image(40, 32, HAL_PIXEL_FORMAT_RGBA, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM));
  ASSERT_EQ(hal_image_processor_draw_decoded_masks(processor.get(), image.get(), nullptr, nullptr,
                                                   background.get(), .5F, nullptr,
                                                   HAL_COLOR_MODE_INSTANCE),
            0);
  EXPECT_EQ(bytes_of(image.get()), bytes_of(background.get()));
  errno = 0;
  EXPECT_EQ(
      hal_image_processor_draw_decoded_masks(processor.get(), image.get(), nullptr, nullptr,
                                             image.get(), .5F, nullptr, HAL_COLOR_MODE_INSTANCE),
      -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_image_processor_draw_decoded_masks(processor.get(), image.get(), nullptr, nullptr,
                                                   nullptr, .5F, nullptr, hal_color_mode(9)),
            -1);
}

TEST_F(c_decoder, tracks) {
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  hal_detect_box_list* boxes = nullptr;
  hal_segmentation_list* masks = nullptr;
  hal_track_info_list* tracks = nullptr;
  ASSERT_EQ(hal_decoder_decode_tracked(decoder.get(), tracker.get(), 1000, outputs.data(), 2,
                                       &boxes, &masks, &tracks),
            0);
  const Owned<hal_detect_box_list> owned(boxes);
  const Owned<hal_segmentation_list> owned_masks(masks);
  const Owned<hal_track_info_list> owned_tracks(tracks);
  ASSERT_EQ(hal_track_info_list_len(tracks), 2U);
  hal_track_info first, second;
  ASSERT_EQ(hal_track_info_list_get(tracks, 0, &first), 0);
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(first.created, 1000U);
  char text[37];
  ASSERT_EQ(hal_uuid_to_string(&first.uuid, text, sizeof text), 0);
  EXPECT_EQ(std::strlen(text), 36U);
  EXPECT_EQ(hal_uuid_to_string(&first.uuid, text, 36), -1);
  ASSERT_EQ(hal_image_processor_draw_masks_tracked(
                processor.get(), decoder.get(), tracker.get(), 34'000'000, outputs.data(), 2,
                image.get(), nullptr, 1, nullptr, HAL_COLOR_MODE_TRACK, nullptr, nullptr),
            0);
  const Owned<hal_track_info_list> active(hal_bytetrack_get_active_tracks(tracker.get()));
  ASSERT_EQ(hal_track_info_list_len(active.get()), 2U);
  ASSERT_EQ(hal_track_info_list_get(active.get(), 0, &second), 0);
  EXPECT_EQ(std::memcmp(first.uuid, second.uuid, 16), 0);
  EXPECT_EQ(second.count, 2);
  EXPECT_EQ(hal_bytetrack_left_out(tracker.get()), 0U);
  errno = 0;
  EXPECT_EQ(hal_bytetrack_update(tracker.get(), boxes, 5), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST(c_tracker, says_how_many_boxes_it_leaves_out) {
  std::vector<hal_detect_box> boxes;
  for (int i = 0; i < 1003; ++i) {
    const float x = static_cast<float>(i % 40) / 40;
    const float y = static_cast<float>(i / 40) / 40;
    boxes.push_back({x, y, x + .01F, y + .01F, .9F, 0});
  }
  const Owned<hal_detect_box_list> many(hal_detect_box_list_new(boxes.data(), boxes.size()));
  const Owned<hal_detect_box_list> few(hal_detect_box_list_new(boxes.data(), 1000));
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  EXPECT_EQ(hal_bytetrack_left_out(nullptr), 0U);
  EXPECT_EQ(hal_bytetrack_left_out(tracker.get()), 0U);
  const Owned<hal_track_info_list> first(hal_bytetrack_update(tracker.get(), many.get(), 1));
  EXPECT_EQ(hal_bytetrack_left_out(tracker.get()), 3U);
  EXPECT_EQ(hal_track_info_list_len(first.get()), 1003U);
  const Owned<hal_track_info_list> second(hal_bytetrack_update(tracker.get(), few.get(), 2));
  EXPECT_EQ(hal_bytetrack_left_out(tracker.get()), 0U);
}

TEST(c_decoders, are_made_from_exactly_one_configuration) {
  const Owned<hal_decoder_params> params(hal_decoder_params_new());
  const auto errno_of_new = [&] {
    errno = 0;
    const Owned<hal_decoder> decoder(hal_decoder_new(params.get()));
    return decoder ? 0 : errno;
  };
  EXPECT_EQ(errno_of_new(), EINVAL);
  ASSERT_EQ(hal_decoder_params_set_config_json(params.get(), "{ none", 0), 0);
  EXPECT_EQ(errno_of_new(), EBADMSG);
  const std::string text = R"({"outputs": [{"type": "detection", "shape": [1, 8, 50]}]} rest)";
  ASSERT_EQ(hal_decoder_params_set_config_json(params.get(), text.c_str(), text.size() - 5), 0);
  EXPECT_EQ(errno_of_new(), 0);
  ASSERT_EQ(hal_decoder_params_set_config_file(params.get(), "/nowhere.json"), 0);
  EXPECT_EQ(errno_of_new(), EINVAL);
  const Owned<hal_decoder_params> file(hal_decoder_params_new());
  ASSERT_EQ(hal_decoder_params_set_config_file(file.get(), "/nowhere.json"), 0);
  errno = 0;
  EXPECT_EQ(hal_decoder_new(file.get()), nullptr);
  EXPECT_EQ(errno, ENOENT);
  const std::size_t shape[1] = {3};
  EXPECT_EQ(hal_decoder_params_add_output(params.get(), HalOutputType(8),
                                          HAL_DECODER_TYPE_ULTRALYTICS, shape, nullptr, 1),
            -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_decoder_params_set_score_threshold(params.get(), std::nanf("")), -1);
  EXPECT_EQ(hal_decoder_params_output_set_quantization(params.get(), 0, 1, 0), -1);
}

TEST(c_tiles, cover_a_frame_and_come_together) {
  const Owned<hal_tile_spec_list> grid(hal_tile_grid(640, 1920, 640, 640, .1F));
  ASSERT_EQ(hal_tile_spec_list_len(grid.get()), 4U);
  hal_tile_spec spec;
  ASSERT_EQ(hal_tile_spec_list_get(grid.get(), 2, &spec), 0);
  EXPECT_EQ(spec.source.x, 853U);
  EXPECT_EQ(spec.col, 2U);
  EXPECT_EQ(spec.row, 0U);

  const Owned<hal_image_processor> processor(hal_image_processor_new());
  hal_tiling_config config = hal_tiling_config_default(32, 16);
  const Owned<hal_tensor> source(
      hal_tensor_new_image(64, 24, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM));
  const Owned<hal_tile_placement_list> plan(
      hal_image_processor_plan_tiles(processor.get(), 64, 24, &config));
  const std::size_t count = hal_tile_placement_list_len(plan.get());
  ASSERT_EQ(count, 6U);
  const Owned<hal_tensor> batch(hal_image_processor_alloc_tile_batch(
      processor.get(), count, &config, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_MEM,
      HAL_CPU_ACCESS_READ_WRITE));
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(hal_tensor_height(batch.get()), 6U * 16);
  const Owned<hal_tile_placement_list> tiles(
      hal_image_processor_tile_into(processor.get(), source.get(), batch.get(), &config));
  ASSERT_EQ(hal_tile_placement_list_len(tiles.get()), count) << hal_last_error();
  const Owned<hal_tensor> small(hal_image_processor_alloc_tile_batch(
      processor.get(), count - 1, &config, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8,
      HAL_TENSOR_MEMORY_MEM, HAL_CPU_ACCESS_READ_WRITE));
  errno = 0;
  EXPECT_EQ(hal_image_processor_tile_into(processor.get(), source.get(), small.get(), &config),
            nullptr);
  EXPECT_EQ(errno, EINVAL);

  hal_merge_config merge = hal_merge_config_default();
  hal_tiled_frame_accumulator* const accumulator =
      hal_tiled_frame_accumulator_new(64, 24, count, &merge, 4);
  const hal_detect_box box{.5F, .25F, 1, .75F, .9F, 3};
  const Owned<hal_detect_box_list> boxes(hal_detect_box_list_new(&box, 1));
  for (std::size_t i = 0; i < count; ++i) {
    hal_tile_placement tile;
    ASSERT_EQ(hal_tile_placement_list_get(tiles.get(), i, &tile), 0);
    ASSERT_EQ(
        hal_tiled_frame_accumulator_push_tile(accumulator, i == 0 ? boxes.get() : nullptr, &tile),
        1);
    EXPECT_EQ(hal_tiled_frame_accumulator_push_tile(accumulator, nullptr, &tile), 0);
    EXPECT_EQ(hal_tiled_frame_accumulator_remaining(accumulator), count - 1 - i);
  }
  EXPECT_TRUE(hal_tiled_frame_accumulator_is_complete(accumulator));
  const Owned<hal_detect_box_list> merged(hal_tiled_frame_accumulator_finalize(accumulator));
  ASSERT_EQ(hal_detect_box_list_len(merged.get()), 1U);
  hal_detect_box found;
  ASSERT_EQ(hal_detect_box_list_get(merged.get(), 0, &found), 0);
  EXPECT_EQ(found.xmin, 16);
  EXPECT_EQ(found.ymin, 4);
  EXPECT_EQ(found.label, 3U);
  merge.metric = 7;
  EXPECT_EQ(hal_merge_tiled_detections(boxes.get(), &merge), nullptr);
  merge.metric = HAL_MATCH_METRIC_IOS;
  const Owned<hal_detect_box_list> none(hal_merge_tiled_detections(nullptr, &merge));
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(hal_detect_box_list_len(none.get()), 0U);
}

TEST(c_lists, refuse_what_they_cannot_hold) {
  const hal_detect_box box{0, 0, 1, 1, 1, std::size_t{1} << 31};
  errno = 0;
  EXPECT_EQ(hal_detect_box_list_new(&box, 1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_detect_box_list_new(nullptr, 1), nullptr);
  const Owned<hal_detect_box_list> none(hal_detect_box_list_new(nullptr, 0));
  EXPECT_NE(none, nullptr);
}

TEST(c_system, records_one_trace_at_a_time) {
  const std::string path = ::testing::TempDir() + "halyard_capi_trace.json";
  ASSERT_EQ(hal_start_tracing(path.c_str()), 0) << hal_last_error();
  EXPECT_EQ(hal_is_tracing_active(), 1);
  errno = 0;
  EXPECT_EQ(hal_start_tracing(path.c_str()), -1);
  EXPECT_EQ(errno, EALREADY);
  hal_stop_tracing();
  EXPECT_EQ(hal_is_tracing_active(), 0);
  EXPECT_EQ(std::remove(path.c_str()), 0);
}

TEST(c_system, takes_one_log) {
  const auto sink = [](hal_log_level, const char*, const char*, void*) {};
  errno = 0;
  EXPECT_EQ(hal_log_init_callback(sink, nullptr, hal_log_level(0)), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hal_log_init_callback(sink, nullptr, HAL_LOG_LEVEL_ERROR), 0);
  EXPECT_EQ(hal_log_init_file(stderr, HAL_LOG_LEVEL_ERROR), -1);
  EXPECT_EQ(errno, EALREADY);
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
