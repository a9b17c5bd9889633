// SPDX-License-Identifier: Apache-2.0
// What a decoder's parameters do, dequantization, trackers with numbers of their own, single tiles.
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "owned.h"

namespace {

using namespace halyard::test;

struct FreeMore : Free {
  using Free::operator();
  void operator()(hal_decoder_params* p) const { hal_decoder_params_free(p); }
  void operator()(hal_decoder* d) const { hal_decoder_free(d); }
  void operator()(hal_detect_box_list* l) const { hal_detect_box_list_free(l); }
  void operator()(hal_track_info_list* l) const { hal_track_info_list_free(l); }
  void operator()(hal_bytetrack* t) const { hal_bytetrack_free(t); }
  void operator()(hal_tile_placement_list* l) const { hal_tile_placement_list_free(l); }
  void operator()(hal_tiled_frame_accumulator* a) const { hal_tiled_frame_accumulator_free(a); }
};
template <class T>
using Handle = std::unique_ptr<T, FreeMore>;
using Boxes = Handle<hal_detect_box_list>;

// Three boxes of two classes: two nearly the same (0.9 and 0.8), one apart (0.7 and, of the other
// class, 0.6).
struct CapiParameters : testing::Test {
  static constexpr std::array<std::size_t, 3> shape{1, 6, 16};
  Handle<hal_decoder_params> params{hal_decoder_params_new()};
  Tensor output{hal_tensor_new(HAL_DTYPE_F32, shape.data(), 3, HAL_TENSOR_MEMORY_MEM, nullptr)};

  CapiParameters() {
    const std::array<std::array<float, 6>, 3> rows{{{.3F, .3F, .2F, .2F, .9F, 0},
                                                    {.31F, .3F, .2F, .2F, 0, .8F},
                                                    {.7F, .7F, .2F, .2F, .7F, .6F}}};
    const Map map(hal_tensor_map_create(output.get()));
    auto* const at = static_cast<float*>(hal_tensor_map_data(map.get()));
    for (std::size_t box = 0; box < rows.size(); ++box)
      for (std::size_t i = 0; i < 6; ++i)
        at[i * 16 + box] = rows[box][i];
    EXPECT_EQ(hal_decoder_params_add_output(params.get(), HAL_OUTPUT_TYPE_DETECTION,
                                            HAL_DECODER_TYPE_ULTRALYTICS, shape.data(), nullptr, 3),
              0);
  }
  // The count of boxes that a decoder of these parameters gives.
  int boxes() const {
    const Handle<hal_decoder> decoder(hal_decoder_new(params.get()));
    EXPECT_TRUE(decoder) << hal_last_error();
    const hal_tensor* const outputs[1] = {output.get()};
    hal_detect_box_list* list = nullptr;
    EXPECT_EQ(hal_decoder_decode(decoder.get(), outputs, 1, &list, nullptr), 0) << hal_last_error();
    const Boxes owned(list);
    return static_cast<int>(hal_detect_box_list_len(list));
  }
};

TEST_F(CapiParameters, choose_what_suppresses_what) {
  EXPECT_EQ(boxes(), 2) << "one of the pair";
  ASSERT_EQ(hal_decoder_params_set_nms(params.get(), HAL_NMS_CLASS_AWARE), 0);
  EXPECT_EQ(boxes(), 3) << "the pair is of two classes";
  ASSERT_EQ(hal_decoder_params_set_nms(params.get(), HAL_NMS_CLASS_AGNOSTIC), 0);
  EXPECT_EQ(boxes(), 2);
  ASSERT_EQ(hal_decoder_params_set_iou_threshold(params.get(), 0.99F), 0);
  EXPECT_EQ(boxes(), 3) << "they overlap less than that";
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_nms(params.get(), static_cast<hal_nms>(4)));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_iou_threshold(params.get(), std::nanf("")));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_nms(nullptr, HAL_NMS_AUTO));
}

TEST_F(CapiParameters, limit_counts) {
  ASSERT_EQ(hal_decoder_params_set_nms(params.get(), HAL_NMS_NONE), 0);
  EXPECT_EQ(boxes(), 3);
  ASSERT_EQ(hal_decoder_params_set_max_det(params.get(), 1), 0);
  EXPECT_EQ(boxes(), 1);
  ASSERT_EQ(hal_decoder_params_set_max_det(params.get(), 300), 0);
  ASSERT_EQ(hal_decoder_params_set_nms(params.get(), HAL_NMS_CLASS_AWARE), 0);
  ASSERT_EQ(hal_decoder_params_set_pre_nms_top_k(params.get(), 2), 0);
  EXPECT_EQ(boxes(), 2) << "the best two enter";
  ASSERT_EQ(hal_decoder_params_set_pre_nms_top_k(params.get(), 0), 0);
  ASSERT_EQ(hal_decoder_params_set_multi_label(params.get(), true), 0);
  EXPECT_EQ(boxes(), 4) << "the last box is of both classes";
  ASSERT_EQ(hal_decoder_params_set_score_threshold(params.get(), 0.65F), 0);
  EXPECT_EQ(boxes(), 3);
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_max_det(nullptr, 1));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_pre_nms_top_k(nullptr, 1));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_multi_label(nullptr, true));
}

TEST_F(CapiParameters, refuse_what_an_output_cannot_have) {
  const float anchors[2][2] = {{.1F, .1F}, {.2F, .3F}};
  EXPECT_EQ(hal_decoder_params_output_set_anchors(params.get(), 0, anchors, 2), 0);
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_output_set_anchors(params.get(), 1, anchors, 2));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_output_set_anchors(params.get(), 0, nullptr, 2));
  const std::array<std::size_t, 4> protos{1, 8, 8, 2};
  ASSERT_EQ(hal_decoder_params_add_output(params.get(), HAL_OUTPUT_TYPE_PROTOS,
                                          HAL_DECODER_TYPE_ULTRALYTICS, protos.data(), nullptr, 4),
            1);
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_output_set_anchors(params.get(), 1, anchors, 2));
  for (const auto version : {HAL_DECODER_VERSION_YOLOV5, HAL_DECODER_VERSION_YOLOV8,
                             HAL_DECODER_VERSION_YOLO11, HAL_DECODER_VERSION_YOLO26})
    EXPECT_EQ(hal_decoder_params_set_decoder_version(params.get(), version), 0);
  EXPECT_ERRNO(
      -1, EINVAL,
      hal_decoder_params_set_decoder_version(params.get(), static_cast<HalDecoderVersion>(-1)));
}

TEST(CapiDocuments, may_be_yaml) {
  const char* const text =
      "outputs:\n"
      "  - type: detection\n"
      "    decoder: ultralytics\n"
      "    shape: [1, 6, 16]\n"
      "    dshape: [[batch, 1], [num_features, 6], [num_boxes, 16]]\n";
  for (const std::size_t len : {std::size_t{0}, std::strlen(text)}) {
    const Handle<hal_decoder_params> params(hal_decoder_params_new());
    ASSERT_EQ(hal_decoder_params_set_config_yaml(params.get(), text, len), 0);
    const Handle<hal_decoder> decoder(hal_decoder_new(params.get()));
    ASSERT_TRUE(decoder) << hal_last_error();
  }
  const Handle<hal_decoder_params> params(hal_decoder_params_new());
  ASSERT_EQ(hal_decoder_params_set_config_yaml(params.get(), "outputs: [", 0), 0);
  EXPECT_ERRNO(nullptr, EBADMSG, hal_decoder_new(params.get()));
  EXPECT_ERRNO(-1, EINVAL, hal_decoder_params_set_config_yaml(params.get(), nullptr, 0));
}

TEST(CapiNumbers, become_floats) {
  const std::array<std::size_t, 2> shape{1, 3};
  const Tensor stored(
      hal_tensor_new(HAL_DTYPE_I8, shape.data(), 2, HAL_TENSOR_MEMORY_MEM, nullptr));
  const Tensor real(hal_tensor_new(HAL_DTYPE_F32, shape.data(), 2, HAL_TENSOR_MEMORY_MEM, nullptr));
  {
    const Map map(hal_tensor_map_create(stored.get()));
    const std::array<std::int8_t, 3> values{-1, 0, 5};
    std::memcpy(hal_tensor_map_data(map.get()), values.data(), values.size());
  }
  ASSERT_EQ(hal_dequantize(stored.get(), {0.5F, -1}, real.get()), 0) << hal_last_error();
  const Map map(hal_tensor_map_create(real.get()));
  const auto* const floats = static_cast<const float*>(hal_tensor_map_data_const(map.get()));
  EXPECT_EQ(floats[0], 0.0F);
  EXPECT_EQ(floats[1], 0.5F);
  EXPECT_EQ(floats[2], 3.0F);
  const std::size_t two = 2;
  const Tensor shorter(hal_tensor_new(HAL_DTYPE_F32, &two, 1, HAL_TENSOR_MEMORY_MEM, nullptr));
  EXPECT_ERRNO(-1, EINVAL, hal_dequantize(stored.get(), {0.5F, -1}, shorter.get()));
  EXPECT_ERRNO(-1, EINVAL, hal_dequantize(stored.get(), {0.5F, -1}, stored.get()));
  EXPECT_ERRNO(-1, EINVAL, hal_dequantize(nullptr, {0.5F, -1}, real.get()));
}

TEST(CapiTracker, lives_as_long_as_its_numbers_say) {
  const hal_detect_box box{.1F, .1F, .3F, .3F, .9F, 0};
  const Boxes seen(hal_detect_box_list_new(&box, 1));
  const Boxes nothing(hal_detect_box_list_new(nullptr, 0));
  constexpr std::uint64_t second = 1000000000;
  // 30 frames a second and a buffer of 60: two seconds.
  const Handle<hal_bytetrack> tracker(hal_bytetrack_new(.25F, .7F, .25F, 30, 60));
  ASSERT_TRUE(tracker);
  const auto active = [&](const Boxes& boxes, std::uint64_t time) {
    const Handle<hal_track_info_list> updated(
        hal_bytetrack_update(tracker.get(), boxes.get(), time));
    EXPECT_TRUE(updated) << hal_last_error();
    const Handle<hal_track_info_list> tracks(hal_bytetrack_get_active_tracks(tracker.get()));
    return hal_track_info_list_len(tracks.get());
  };
  EXPECT_EQ(active(seen, second), 1U);
  EXPECT_EQ(active(nothing, second * 5 / 2), 1U) << "it coasts";
  EXPECT_EQ(active(nothing, second * 4), 0U) << "two seconds are over";
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
  const Handle<hal_tile_placement_list> plan(
      hal_image_processor_plan_tiles(processor.get(), 64, 32, &config));
  ASSERT_EQ(hal_tile_placement_list_len(plan.get()), 2U);
  hal_tile_placement right{};
  ASSERT_EQ(hal_tile_placement_list_get(plan.get(), 1, &right), 0);
  ASSERT_EQ(hal_image_processor_tile_one(processor.get(), frame.get(), tile.get(), &right, &config),
            0)
      << hal_last_error();
  ASSERT_EQ(hal_image_processor_flush(processor.get()), 0);
  EXPECT_EQ(byte_at(tile, 0), 32);
  EXPECT_ERRNO(
      -1, EINVAL,
      hal_image_processor_tile_one(processor.get(), frame.get(), tile.get(), nullptr, &config));
  const hal_detect_box box{.25F, .5F, .5F, 1, .9F, 3};
  const Boxes found(hal_detect_box_list_new(&box, 1));
  const Boxes lifted(hal_lift_tile_boxes(found.get(), &right));
  hal_detect_box got{};
  ASSERT_EQ(hal_detect_box_list_get(lifted.get(), 0, &got), 0);
  EXPECT_FLOAT_EQ(got.xmin, 40);
  EXPECT_FLOAT_EQ(got.ymax, 32);
  EXPECT_EQ(got.label, 3U);
  const hal_merge_config merge = hal_merge_config_default();
  Handle<hal_tiled_frame_accumulator> all(hal_tiled_frame_accumulator_new(64, 32, 2, &merge, 4));
  ASSERT_EQ(hal_tiled_frame_accumulator_push_tile(all.get(), found.get(), &right), 1);
  EXPECT_EQ(hal_tiled_frame_accumulator_push_tile(all.get(), found.get(), &right), 0) << "twice";
  EXPECT_EQ(hal_tiled_frame_accumulator_remaining(all.get()), 1U);
  const Boxes merged(hal_tiled_frame_accumulator_finalize_normalized(all.release()));
  ASSERT_EQ(hal_detect_box_list_get(merged.get(), 0, &got), 0);
  EXPECT_FLOAT_EQ(got.xmin, 40.0F / 64);
  EXPECT_FLOAT_EQ(got.ymax, 1);
}

}  // namespace
