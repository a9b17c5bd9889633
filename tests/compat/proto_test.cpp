// SPDX-License-Identifier: Apache-2.0
// Prototypes and coefficients as tensors, masks made of them, and tracked decoding.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "halyard/track.h"
#include "heads.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace halyard::test;
using compat::ByteTrack;
using compat::Decoder;
using compat::Found;
using compat::Painter;
using compat::ProtoData;

TEST(compat_proto, rows_of_coefficients_are_in_the_order_of_the_boxes) {
  const Decoder decoder = decoder_of(mask_outputs());
  std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  compat::Found found;
  std::optional<ProtoData> protos;
  ASSERT_TRUE(decoder.decode_proto(outputs, found, protos));
  EXPECT_TRUE(found.segmentations.empty());
  ASSERT_TRUE(protos);
  EXPECT_EQ(found.boxes.size(), 3U);
  EXPECT_EQ(protos->layout(), compat::ProtoLayout::nhwc);
  // Theirs whatever becomes of the network's output.
  std::memset(outputs[1].map(Access::write)->writable(), 0, outputs[1].size_bytes());
  const auto coefficients = protos->take_mask_coefficients();
  ASSERT_TRUE(coefficients && *coefficients);
  const auto map = (*coefficients)->map(Access::read);
  const auto numbers = *map->flat<const float>();
  EXPECT_EQ(std::vector<float>(numbers.begin(), numbers.end()),
            (std::vector<float>{3, 0, 0, -3, 1, 1}));
  const auto tensor = protos->take_protos();
  ASSERT_TRUE(tensor);
  EXPECT_EQ(std::vector<std::size_t>(tensor->shape().begin(), tensor->shape().end()),
            (std::vector<std::size_t>{8, 8, 2}));
  EXPECT_EQ(tensor->map(Access::read)->flat<const float>()->front(), -3.5F);
  EXPECT_FALSE(protos->take_protos());
  EXPECT_FALSE(*protos->take_mask_coefficients());
  compat::SegmentationList masks;
  EXPECT_EQ(code_of(Painter().materialize_masks(found.boxes, *protos, {}, {}, masks)),
            Errc::invalid_argument);
}

TEST(compat_proto, lists_that_were_moved_from_are_filled_anew) {
  const Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  Found found;
  ASSERT_TRUE(decoder.decode(outputs, found));
  const compat::SegmentationList mine = std::move(found.segmentations);
  ASSERT_EQ(mine.size(), 3U);
  EXPECT_TRUE(found.segmentations.empty());  // NOLINT(bugprone-use-after-move)
  ASSERT_TRUE(decoder.decode(outputs, found));
  ASSERT_EQ(found.segmentations.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(found.segmentations[i].width, mine[i].width);
    EXPECT_NE(found.segmentations[i].data, mine[i].data);
    EXPECT_EQ(
        std::memcmp(found.segmentations[i].data, mine[i].data, mine[i].width * mine[i].height), 0);
  }
  compat::SegmentationList other;
  other = std::move(found.segmentations);
  ASSERT_TRUE(decoder.decode(outputs, found));
  EXPECT_EQ(found.segmentations.size(), 3U);
  compat::SegmentationList& same = other;
  other = std::move(same);
  std::swap(other, found.segmentations);
  ASSERT_TRUE(decoder.decode(outputs, found));
  EXPECT_EQ(found.segmentations.size(), 3U);
}

TEST(compat_proto, prototypes_that_were_moved_from_have_nothing_to_give) {
  const Decoder decoder = decoder_of(mask_outputs());
  compat::Found found;
  std::optional<ProtoData> protos;
  ASSERT_TRUE(decoder.decode_proto(std::vector{mask_head(), mask_prototypes()}, found, protos));
  ProtoData mine = std::move(*protos);
  EXPECT_FALSE(protos->has_protos());
  EXPECT_FALSE(protos->has_coefficients());
  EXPECT_FALSE(protos->take_protos());
  EXPECT_FALSE(*protos->take_mask_coefficients());
  EXPECT_TRUE(mine.take_protos());
}

TEST(compat_proto, of_which_one_half_was_taken_make_no_masks) {
  const Decoder decoder = decoder_of(mask_outputs());
  for (const bool takes_prototypes : {false, true}) {
    compat::Found found;
    std::optional<ProtoData> protos;
    ASSERT_OK(decoder.decode_proto(std::vector{mask_head(), mask_prototypes()}, found, protos));
    if (takes_prototypes) {
      EXPECT_TRUE(protos->take_protos());
    } else {
      EXPECT_TRUE(*protos->take_mask_coefficients());
    }
    compat::SegmentationList masks;
    EXPECT_FAILS(compat::Painter().materialize_masks(found.boxes, *protos, {}, {}, masks),
                 Errc::invalid_argument, "were taken");
  }
}

TEST(compat_proto, large_ones_are_copied_beside_by_several_threads_at_once) {
  constexpr std::size_t side = 512;  // 2 MiB
  auto outputs = mask_outputs();
  outputs[1].shape = {1, side, side, 2};
  const Decoder decoder = decoder_of(outputs);
  std::vector<float> numbers(side * side * 2);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i);
  const std::vector<Tensor> tensors{mask_head(), tensor_of<float>({1, side, side, 2}, numbers)};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        compat::Found found;
        std::optional<ProtoData> protos;
        ASSERT_TRUE(decoder.decode_proto(tensors, found, protos));
        EXPECT_EQ(found.boxes.size(), 3U);
        const auto copied = protos->take_protos();
        const auto map = copied->map(Access::read);
        EXPECT_NE(map->data(), tensors[1].map(Access::read)->data());
        EXPECT_TRUE(std::ranges::equal(*map->flat<const float>(), numbers));
      }
    });
  }
  for (auto& thread : threads)
    thread.join();
  // A failure of one side is the call's, though the other may have been done.
  const std::vector<Tensor> wrong{tensor_of<float>({1, 8, 2}, std::vector<float>(16)), tensors[1]};
  compat::Found found;
  std::optional<ProtoData> protos;
  EXPECT_EQ(code_of(decoder.decode_proto(wrong, found, protos)), Errc::invalid_argument);
  EXPECT_FALSE(protos);
}

TEST(compat_proto, integers_stay_integers_with_their_quantization) {
  auto outputs = mask_outputs();
  outputs[0].scale = .05F;
  outputs[0].zero_point = -10;
  outputs[1].shape = {1, 2, 8, 8};
  outputs[1].dims = {compat::DimName::batch, compat::DimName::num_protos, compat::DimName::height,
                     compat::DimName::width};
  outputs[1].scale = .5F;
  std::vector<std::int8_t> head(8 * mask_boxes, -10);
  for (const auto& [row, value] :
       {std::pair{0, 0}, {1, 0}, {2, -2}, {3, -2}, {4, 8}, {6, 40}, {7, -30}})
    head[static_cast<std::size_t>(row) * mask_boxes + 5] = static_cast<std::int8_t>(value);
  const std::vector<Tensor> tensors{
      tensor_of<std::int8_t>({1, 8, mask_boxes}, head),
      tensor_of<std::int8_t>({1, 2, 8, 8}, std::vector<std::int8_t>(128, 3))};
  compat::Found found;
  std::optional<ProtoData> protos;
  const Decoder decoder = decoder_of(outputs);
  ASSERT_TRUE(decoder.decode_proto(tensors, found, protos));
  ASSERT_EQ(found.boxes.size(), 1U);
  EXPECT_EQ(protos->layout(), compat::ProtoLayout::nchw);
  const auto coefficients = *protos->take_mask_coefficients();
  EXPECT_EQ(coefficients->dtype(), DType::i8);
  EXPECT_EQ(coefficients->quantization(), Quantization::per_tensor(.05F, -10));
  const auto map = coefficients->map(Access::read);
  EXPECT_EQ((*map->flat<const std::int8_t>())[0], 40);
  EXPECT_EQ((*map->flat<const std::int8_t>())[1], -30);
  const auto tensor = protos->take_protos();
  EXPECT_EQ(tensor->dtype(), DType::i8);
  EXPECT_EQ(tensor->shape()[0], 2U);
  EXPECT_FLOAT_EQ(tensor->quantization()->scale_at(0), .5F);
}

TEST(compat_proto, no_boxes_give_no_rows_and_all_prototypes) {
  const Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> outputs{head_of({}, 8, mask_boxes), mask_prototypes()};
  compat::Found found;
  std::optional<ProtoData> protos;
  ASSERT_TRUE(decoder.decode_proto(outputs, found, protos));
  EXPECT_TRUE(found.boxes.empty());
  ASSERT_TRUE(protos);
  EXPECT_EQ(protos->size(), 0U);
  const auto coefficients = protos->take_mask_coefficients();
  ASSERT_TRUE(coefficients) << coefficients.error().message();
  EXPECT_EQ(
      std::vector<std::size_t>((*coefficients)->shape().begin(), (*coefficients)->shape().end()),
      (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(protos->take_protos()->shape()[0], 8U);
}

TEST(compat_proto, a_head_without_masks_gives_none) {
  std::vector<compat::Output> outputs(1);
  outputs[0].shape = {1, 8, mask_boxes};
  const Tensor tensor = mask_head();
  compat::Found found;
  std::optional<ProtoData> protos;
  ASSERT_TRUE(decoder_of(outputs).decode_proto({&tensor, 1}, found, protos));
  EXPECT_FALSE(found.boxes.empty());
  EXPECT_FALSE(protos);
}

// Extents and counts are those of edgefirst_hal 0.28.3 for the same head.
TEST(compat_proto, masks_are_0_or_255_at_the_resolution_that_is_asked_for) {
  const Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> outputs{mask_head(), mask_prototypes()};
  compat::Found found;
  std::optional<ProtoData> protos;
  ASSERT_TRUE(decoder.decode_proto(outputs, found, protos));
  Painter painter;
  compat::SegmentationList masks;
  struct Expected {
    std::size_t height, width, on;
  };
  const auto expect = [&](const std::optional<compat::Letterbox>& letterbox,
                          std::optional<Size> scaled, const std::vector<Expected>& expected) {
    ASSERT_TRUE(painter.materialize_masks(found.boxes, *protos, letterbox, {scaled}, masks));
    ASSERT_EQ(masks.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const compat::Segmentation& mask = masks[i];
      EXPECT_EQ(mask.height, expected[i].height) << i;
      EXPECT_EQ(mask.width, expected[i].width) << i;
      const std::uint8_t* const end = mask.data + mask.height * mask.width;
      EXPECT_EQ(static_cast<std::size_t>(std::count(mask.data, end, 255)), expected[i].on) << i;
      EXPECT_EQ(static_cast<std::size_t>(std::count(mask.data, end, 0)),
                mask.height * mask.width - expected[i].on);
    }
  };
  const compat::Letterbox middle{0, .25F, 1, .75F};
  expect({}, {}, {{4, 4, 8}, {3, 2, 4}, {2, 2, 4}});
  expect(middle, {}, {{4, 4, 8}, {3, 2, 4}, {2, 2, 4}});
  expect({}, Size{64, 32}, {{14, 22, 154}, {7, 10, 50}, {5, 10, 50}});
  expect(middle, Size{64, 32}, {{28, 22, 308}, {10, 10, 60}, {1, 10, 10}});
  EXPECT_EQ(code_of(painter.materialize_masks(found.boxes, *protos, compat::Letterbox{0, 1, 1, 0},
                                              {}, masks)),
            Errc::invalid_argument);
}

TEST(compat_proto, tracked_boxes_come_first_with_their_masks_then_those_that_coast) {
  const Decoder decoder = decoder_of(mask_outputs());
  const Tensor prototypes = mask_prototypes();
  auto tracker = ByteTrack::create();
  ASSERT_TRUE(tracker);
  Found found;
  const std::vector<Tensor> all{mask_head(), prototypes};
  ASSERT_TRUE(decoder.decode_tracked(*tracker, 1000, all, found));
  ASSERT_EQ(found.boxes.size(), 3U);
  EXPECT_EQ(found.segmentations.size(), 3U);
  EXPECT_EQ(found.tracks.size(), 3U);
  const compat::TrackInfo third = found.tracks[2];
  // The first object is gone, the other two changed places.
  const std::vector<Tensor> fewer{
      head_of({{.95F, .95F, .2F, .2F, .95F, 0, 1, 1}, {.2F, .3F, .15F, .2F, 0, .8F, 0, -3}}, 8,
              mask_boxes),
      prototypes};
  ASSERT_TRUE(decoder.decode_tracked(*tracker, 33'001'000, fewer, found));
  ASSERT_EQ(found.boxes.size(), 3U);
  ASSERT_EQ(found.segmentations.size(), 2U);
  EXPECT_EQ(found.tracks[1].uuid, third.uuid);
  EXPECT_EQ(found.tracks[1].count, 2);
  EXPECT_EQ(found.tracks[1].created, 1000U);
  EXPECT_EQ(found.tracks[2].last_updated, 1000U);
  EXPECT_EQ(found.boxes[1].label, 0);
  EXPECT_EQ(found.segmentations[1].data[0], 255);  // the mask went with its object
  EXPECT_EQ(found.segmentations[0].width, 2U);
  std::vector<compat::ActiveTrack> active;
  tracker->active(active);
  ASSERT_EQ(active.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(active[i].info, found.tracks[i]);
  expect_box(active[2].last_box, {.325F, .275F, .675F, .725F});
  // Nothing is left: all coast, none has a mask.
  const std::vector<Tensor> none{head_of({}, 8, mask_boxes), prototypes};
  ASSERT_TRUE(decoder.decode_tracked(*tracker, 66'001'000, none, found));
  EXPECT_EQ(found.boxes.size(), 3U);
  EXPECT_TRUE(found.segmentations.empty());
}

TEST(compat_proto, any_tracker_gives_the_tracks_that_it_trusts) {
  const compat::Decoder decoder = decoder_of(mask_outputs());
  const std::vector<Tensor> all{mask_head(), mask_prototypes()};
  OcSort tracker = *OcSort::create({.min_hits = 2});
  const compat::AnyTracker any{tracker, {.high = 1, .low = 2}};
  compat::Found plain, found;
  ASSERT_TRUE(decoder.decode(all, plain));
  const std::size_t count = plain.boxes.size();
  for (std::uint64_t frame = 1; frame <= 6; ++frame) {
    ASSERT_TRUE(decoder.decode_tracked(any, frame * 33'000'000, all, found));
    ASSERT_EQ(found.tracks.size(), found.boxes.size());
    ASSERT_EQ(found.segmentations.size(), found.boxes.size());
    // OC-SORT trusts all that its first min_hits frames show.
    if (frame >= 3) {
      ASSERT_EQ(found.boxes.size(), count);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Track& track = tracker.tracks()[i];
    EXPECT_EQ(found.tracks[i].uuid, uuid_v4(any.seed(), track.id));
    EXPECT_EQ(found.boxes[i].box, track.box);
    EXPECT_EQ(found.segmentations[i].box,
              plain.segmentations[static_cast<std::size_t>(track.detection)].box);
  }
  ASSERT_TRUE(decoder.decode_tracked(any, 7 * 33'000'000, all, found, 1));
  EXPECT_EQ(found.boxes.size(), 1U);
  EXPECT_EQ(code_of(decoder.decode_tracked(any, 5, all, found)), Errc::invalid_argument);
  EXPECT_EQ(code_of(decoder.decode_tracked(any, UINT64_MAX, all, found)), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
