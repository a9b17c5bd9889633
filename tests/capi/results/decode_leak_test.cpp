// SPDX-License-Identifier: Apache-2.0
// 10^5 calls that decode, draw and track leave the heap as it was.
#include "capi/heap.h"
#include "decoding.h"

namespace {

using namespace halyard::test;

// Some 25 calls, failures among them.
void decode_and_draw(hal_decoder_params* params, hal_image_processor* processor,
                     const std::vector<const hal_tensor*>& outputs, hal_tensor* image) {
  const Owned<hal_decoder> decoder(hal_decoder_new(params));
  const Owned<hal_bytetrack> tracker(hal_bytetrack_new_default());
  hal_detect_box_list* boxes = nullptr;
  hal_segmentation_list* masks = nullptr;
  hal_track_info_list* tracks = nullptr;
  EXPECT_EQ(hal_decoder_decode_tracked(decoder.get(), tracker.get(), 1000, outputs.data(), 2,
                                       &boxes, &masks, &tracks),
            0);
  const Owned<hal_detect_box_list> owned(boxes);
  const Owned<hal_segmentation_list> owned_masks(masks);
  const Owned<hal_track_info_list> owned_tracks(tracks);
  const Owned<hal_tensor> mask(hal_segmentation_to_mask(masks, 0));
  EXPECT_EQ(hal_segmentation_to_mask(masks, 2), nullptr);
  EXPECT_EQ(hal_decoder_decode(decoder.get(), outputs.data(), 1, &boxes, nullptr), -1);
  hal_detect_box_list* found = nullptr;
  const Owned<hal_proto_data> protos(
      hal_decoder_decode_proto(decoder.get(), outputs.data(), 2, &found));
  const Owned<hal_detect_box_list> owned_found(found);
  const Owned<hal_segmentation_list> cut(
      hal_image_processor_materialize_masks(processor, found, protos.get(), nullptr));
  EXPECT_EQ(hal_segmentation_list_len(cut.get()), 2U);
  EXPECT_EQ(hal_image_processor_draw_decoded_masks(processor, image, found, cut.get(), nullptr, 1,
                                                   nullptr, HAL_COLOR_MODE_CLASS),
            0)
      << hal_last_error();
  EXPECT_EQ(hal_image_processor_draw_masks(processor, decoder.get(), outputs.data(), 2, image,
                                           image, 1, nullptr, HAL_COLOR_MODE_CLASS, nullptr),
            -1);
  const Owned<hal_tensor> coefficients(hal_proto_data_take_mask_coefficients(protos.get()));
  const Owned<hal_track_info_list> active(hal_bytetrack_get_active_tracks(tracker.get()));
  EXPECT_EQ(hal_track_info_list_len(active.get()), 2U);
}

TEST_F(c_decoder, leaks_nothing_over_a_hundred_thousand_calls) {
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i)
      decode_and_draw(params.get(), processor.get(), outputs, image.get());
  };
  rounds(50);
  const std::size_t before = halyard::test::heap_bytes();
  rounds(4000);
  EXPECT_LT(halyard::test::heap_bytes(), before + 4096) << "4000 rounds of 25 calls";
}

}  // namespace
