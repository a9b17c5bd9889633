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
  Boxes boxes;
  Masks masks;
  Tracks tracks;
  EXPECT_DONE(hal_decoder_decode_tracked(decoder, tracker, 1000, outputs.data(), 2, boxes.out(),
                                         masks.out(), tracks.out()));
  const Tensor mask(hal_segmentation_to_mask(masks, 0));
  EXPECT_EQ(hal_segmentation_to_mask(masks, 2), nullptr);
  EXPECT_EQ(hal_decoder_decode(decoder, outputs.data(), 1, boxes.out(), nullptr), -1);
  Boxes found;
  const Owned<hal_proto_data> protos(
      hal_decoder_decode_proto(decoder, outputs.data(), 2, found.out()));
  const Masks cut(hal_image_processor_materialize_masks(processor, found, protos, nullptr));
  EXPECT_EQ(hal_segmentation_list_len(cut), 2U);
  EXPECT_DONE(hal_image_processor_draw_decoded_masks(processor, image, found, cut, nullptr, 1,
                                                     nullptr, HAL_COLOR_MODE_CLASS));
  EXPECT_EQ(hal_image_processor_draw_masks(processor, decoder, outputs.data(), 2, image, image, 1,
                                           nullptr, HAL_COLOR_MODE_CLASS, nullptr),
            -1);
  const Tensor coefficients(hal_proto_data_take_mask_coefficients(protos));
  const Tracks active(hal_bytetrack_get_active_tracks(tracker));
  EXPECT_EQ(hal_track_info_list_len(active), 2U);
}

TEST_F(c_decoder, leaks_nothing_over_a_hundred_thousand_calls) {
  const auto rounds = [&](int count) {
    for (int i = 0; i < count; ++i)
      decode_and_draw(params, processor, outputs, image);
  };
  rounds(50);
  const std::size_t before = halyard::test::heap_bytes();
  rounds(4000);
  EXPECT_LT(halyard::test::heap_bytes(), before + 4096) << "4000 rounds of 25 calls";
}

}  // namespace
