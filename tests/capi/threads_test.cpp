// SPDX-License-Identifier: Apache-2.0
// Functions that take a handle as const, called for one handle by several threads at once, and a
// tracker that threads share. ThreadSanitizer sees what equal results do not show.
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "capi/results/decoding.h"
#include "ipc/peer.h"

namespace {

using namespace halyard::test;

void on_four_threads(const std::function<void()>& call) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&call] {
      for (int round = 0; round < 50; ++round)
        call();
    });
  }
  for (auto& thread : threads)
    thread.join();
}

TEST_F(c_decoder, serves_threads_at_once) {
  on_four_threads([this] {
    Boxes boxes;
    Masks masks;
    ASSERT_DONE(hal_decoder_decode(decoder, outputs.data(), 2, boxes.out(), masks.out()));
    EXPECT_EQ(hal_detect_box_list_len(boxes), 2U);
    EXPECT_EQ(hal_segmentation_list_len(masks), 2U);
    Boxes again;
    const auto data = decode_proto(again);
    EXPECT_EQ(hal_proto_data_layout(data), HAL_PROTO_LAYOUT_NHWC);
    EXPECT_STREQ(Owned<char>(hal_decoder_model_type(decoder)), "yolo_seg_det");
    EXPECT_EQ(hal_decoder_normalized_boxes(decoder), -1);
    EXPECT_EQ(hal_decoder_input_dims(decoder, nullptr, nullptr), 0);
    EXPECT_TRUE(Owned<hal_decoder>(hal_decoder_new(params)));
  });
}

TEST_F(c_decoder, gives_lists_that_threads_read_at_once) {
  Boxes boxes;
  Masks masks;
  ASSERT_DONE(hal_decoder_decode(decoder, outputs.data(), 2, boxes.out(), masks.out()));
  Boxes again;
  const auto data = decode_proto(again);
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  on_four_threads([&] {
    hal_detect_box box;
    EXPECT_DONE(hal_detect_box_list_get(boxes, 0, &box));
    float edge[4];
    EXPECT_DONE(hal_segmentation_list_get_bbox(masks, 0, edge, edge + 1, edge + 2, edge + 3));
    EXPECT_NE(hal_segmentation_list_get_mask(masks, 0, nullptr, nullptr), nullptr);
    EXPECT_TRUE(Tensor(hal_segmentation_to_mask(masks, 0)));
    const Boxes merged(hal_merge_tiled_detections(boxes, [] {
      static const hal_merge_config config = hal_merge_config_default();
      return &config;
    }()));
    EXPECT_EQ(hal_detect_box_list_len(merged), 2U);
    // Each thread has a processor and an image of its own.
    const Processor own(hal_image_processor_new());
    const Tensor canvas = make_image(40, 32, HAL_PIXEL_FORMAT_RGBA);
    EXPECT_DONE(hal_image_processor_draw_decoded_masks(own, canvas, boxes, masks, nullptr, 1,
                                                       nullptr, HAL_COLOR_MODE_CLASS));
    EXPECT_DONE(hal_image_processor_draw_proto_masks(own, canvas, boxes, data, nullptr, 1, nullptr,
                                                     HAL_COLOR_MODE_CLASS));
    const Tracks tracks(hal_bytetrack_update(tracker, boxes, 1));
    EXPECT_EQ(hal_track_info_list_len(tracks), 2U);
    const Tracks active(hal_bytetrack_get_active_tracks(tracker));
    EXPECT_GE(hal_track_info_list_len(active), 1U);
  });
}

TEST(CapiThreads, read_one_tensor_at_once) {
  const Tensor tensor =
      make_image(16, 8, HAL_PIXEL_FORMAT_RGB, HAL_DTYPE_U8, HAL_TENSOR_MEMORY_SHM);
  fill(tensor, 1);
  ASSERT_DONE(hal_tensor_set_quantization(tensor, 0.5F, 3));
  const hal_tensor* const one = tensor;
  on_four_threads([one] {
    std::size_t rank = 0;
    EXPECT_EQ(hal_tensor_shape(one, &rank)[1], 16U);
    EXPECT_EQ(hal_tensor_width(one), 16U);
    EXPECT_EQ(hal_tensor_row_stride(one), 48U);
    const Owned<char> name(hal_tensor_name(one));
    const Owned<HalTensorQuant> quant(hal_tensor_quantization(one));
    EXPECT_EQ(hal_quantization_zero_point_at(quant, 0), 3);
    hal_colorimetry colours;
    EXPECT_DONE(hal_tensor_colorimetry(one, &colours));
    EXPECT_EQ(hal_tensor_cuda_map(one), nullptr);
    const int fd = hal_tensor_clone_fd(one);
    EXPECT_GE(fd, 0);
    EXPECT_EQ(close(fd), 0);
    std::vector<std::uint8_t> flat(hal_tensor_size(one));
    EXPECT_DONE(hal_tensor_copy_to_flat(one, flat.data(), flat.size()));
    EXPECT_EQ(flat[100], 100);
    const Tensor part(hal_tensor_view(one, hal_region{4, 2, 8, 4}));
    EXPECT_EQ(byte_at(part, 0), 2 * 48 + 4 * 3);
    const Map map(hal_tensor_map_create(one));
    EXPECT_EQ(static_cast<const std::uint8_t*>(hal_tensor_map_data_const(map))[200], 200);
    const Processor own(hal_image_processor_new());
    const Tensor out = make_image(8, 4, HAL_PIXEL_FORMAT_RGBA);
    EXPECT_DONE(convert(own, one, out));
  });
}

TEST(CapiThreads, share_a_pool) {
  const Pool pool(hal_pool_create(31, nullptr));
  const std::size_t shape[1] = {64};
  on_four_threads([&] {
    const Tensor tensor(hal_pool_alloc(pool, HAL_DTYPE_U8, shape, 1));
    ASSERT_TRUE(tensor) << hal_last_error();
    paint(tensor, 4);
    hal_tensor_descriptor descriptor;
    EXPECT_DONE(hal_tensor_descriptor_of(tensor, &descriptor));
    const Tensor same(hal_pool_attach(pool, &descriptor));
    EXPECT_EQ(byte_at(same, 63), 4);
    EXPECT_DONE(hal_pool_alloc_slot(pool, HAL_DTYPE_U8, shape, 1, &descriptor));
    EXPECT_NE(hal_pool_bytes(pool, &descriptor, nullptr), nullptr);
    EXPECT_DONE(hal_pool_release(pool, &descriptor));
    EXPECT_EQ(stats_of(pool).pool_id, 31U);
    EXPECT_TRUE(Pool(hal_pool_open(31)));
  });
}

TEST(CapiThreads, share_topics_and_get_each_message_once) {
  hal_topic_config config = hal_topic_config_default();
  config.overflow = HAL_OVERFLOW_BLOCK;
  config.block_timeout_ns = -1;
  const Topic from(hal_topic_create("threads/bytes", HAL_MESSAGE_BYTES, &config));
  const Topic to(hal_topic_create("threads/bytes", HAL_MESSAGE_BYTES, nullptr));
  std::atomic<int> received = 0;
  std::vector<std::thread> receivers;
  for (int i = 0; i < 2; ++i) {
    receivers.emplace_back([&] {
      while (received < 200) {
        Message out;
        ASSERT_GE(hal_topic_recv(to, 10'000'000, out.out(), nullptr), 0) << hal_last_error();
        std::size_t size = 0;
        if (out == nullptr) continue;
        EXPECT_STREQ(static_cast<const char*>(hal_message_data(out, &size)), "four");
        EXPECT_EQ(size, 5U);
        ++received;
      }
    });
  }
  on_four_threads([&] {
    EXPECT_DONE(hal_topic_send(from, "four", 5));
    stats_of(to);
    EXPECT_STREQ(hal_topic_name(from), "threads/bytes");
    hal_topic_has_message(to);
    EXPECT_TRUE(Pool(hal_topic_pool(from)));
  });
  for (auto& receiver : receivers)
    receiver.join();
  EXPECT_EQ(received, 200);
}

}  // namespace
