// SPDX-License-Identifier: Apache-2.0
// The code of docs/masks.md, docs/tiles.md and docs/track.md, which is cut from here, runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "decode/head/heads.h"
#include "decode/tensors.h"
#include "halyard/placement.h"
#include "halyard/scene.h"
#include "halyard/semantic.h"
#include "halyard/tile_mask.h"
#include "support/result.h"

namespace halyard {
namespace {

using std::chrono::nanoseconds;

Status encode_masks(const Decoded& decoded, const Placement& placed, MaskSet& masks,
                    std::vector<Rle>& out) {
  // The photograph's own pixels; `masks` is reused: nothing is allocated then.
  const MaskOptions options{.size = placed.source(), .content = RegionF(placed.content())};
  HALYARD_RETURN_IF_ERROR(materialize(decoded.masks, decoded.detections, options, masks));
  out.resize(masks.size());
  for (std::size_t i = 0; i < masks.size(); ++i)
    HALYARD_RETURN_IF_ERROR(
        rle_encode(masks[i], masks.frame(), out[i]));  // or mask_polygons(), or bytes
  return {};
}

Result<Tensor> class_map(SemanticMapper& mapper, const Tensor& scores, const Placement& placed) {
  const Size photo = placed.source();
  HALYARD_TRY(auto map, Tensor::create(DType::u8, {static_cast<std::size_t>(photo.height),
                                                   static_cast<std::size_t>(photo.width)}));
  HALYARD_RETURN_IF_ERROR(mapper.map(scores,
                                     {.layout = SemanticLayout::classes_first,
                                      .input = placed.destination(),
                                      .content = RegionF(placed.content())},
                                     map));
  return map;
}

Status masks_of_tile(const Decoded& decoded, const Region& tile, const Placement& placed,
                     MaskSet& masks) {
  const MaskOptions options{.size = Size{tile.width, tile.height},
                            .content = RegionF(placed.content())};
  return materialize(decoded.masks, decoded.detections, options, masks);
}

Status mask_in_frame(const TileAccumulator& seen, std::size_t index,
                     std::span<const TileMasks> tiles, Size frame, Rle& out) {
  return merge_tile_masks(seen.members(index), tiles, frame, out);
}

Status follow(Tracker& tracker, const std::vector<Detection>& found, nanoseconds when,
              std::vector<Track>& tracks) {
  HALYARD_RETURN_IF_ERROR(tracker.update(found, when, tracks));  // `tracks` is reused
  for (const Track& track : std::span(tracks).first(seen_first(tracks))) {
    const Detection& seen = found[static_cast<std::size_t>(track.detection)];
    std::printf("#%llu is class %d at %.0f, %.0f\n", static_cast<unsigned long long>(track.id),
                int(seen.label), double(track.box.x1), double(track.box.y1));
  }
  return {};
}

Status masks_of_tracks(const Decoder& decoder, Tracker& tracker, std::span<const Tensor> outputs,
                       nanoseconds when, TrackedFrame& seen, MaskSet& masks) {
  HALYARD_RETURN_IF_ERROR(decode_tracked(decoder, tracker, outputs, when, seen));
  const auto live = std::span(seen.decoded.detections).first(seen.live);
  return materialize(seen.decoded.masks, live, {}, masks);
}

// One box of a network of 64 x 64 whose mask is all of it: 4 numbers, a class, one coefficient.
class PageTest : public testing::Test {
 protected:
  const Size input_{64, 64};
  const Decoder decoder_ = *Decoder::create(
      test::model_of(input_, {test::output_of(OutputRole::detection, {1, 6, 2}),
                              test::output_of(OutputRole::prototypes, {1, 1, 16, 16})}));
  // Centre (32, 32), 32 wide, 16 high; the second candidate is nothing.
  const std::vector<Tensor> outputs_{
      test::tensor_of<float>({1, 6, 2}, {32, 0, 32, 0, 32, 0, 16, 0, 0.9F, 0, 1, 0}),
      test::filled<float>({1, 1, 16, 16}, 4)};

  Decoded decoded() const {
    Decoded out;
    EXPECT_TRUE(decoder_.decode_into(outputs_, out));
    return out;
  }
};

TEST_F(PageTest, masks_become_runs_of_the_photograph) {
  MaskSet masks;
  std::vector<Rle> runs;
  ASSERT_TRUE(encode_masks(decoded(), Placement::letterbox({128, 64}, input_), masks, runs));
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].size, (Size{128, 64}));
  std::vector<std::uint8_t> bytes;
  ASSERT_TRUE(rle_decode(runs[0], bytes));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 255), 64 * 32);
}

TEST_F(PageTest, class_maps_have_the_size_of_the_photograph) {
  std::vector<float> scores(2 * 16 * 16, 0);
  std::fill(scores.begin() + 256, scores.end(), 1.0F);  // the second class wins everywhere
  SemanticMapper mapper;
  ASSERT_VALUE(const auto map, class_map(mapper, test::tensor_of<float>({1, 2, 16, 16}, scores),
                                         Placement::letterbox({128, 64}, input_)));
  EXPECT_EQ(map.shape()[0], 64U);
  EXPECT_EQ(map.shape()[1], 128U);
  EXPECT_EQ(map.map(Access::read)->data()[0], std::byte{1});
}

TEST_F(PageTest, masks_of_tiles_come_together_in_their_frame) {
  const Region tile{10, 20, 64, 64};
  const Placement placed({100, 100}, tile, Orientation{}, input_, {0, 0, 64, 64});
  MaskSet masks;
  const Decoded found = decoded();
  ASSERT_TRUE(masks_of_tile(found, tile, placed, masks));
  auto seen = *TileAccumulator::create({100, 100}, 1);
  ASSERT_EQ(seen.push(TilePlacement::of(0, 1, placed), found.detections), TilePush::accepted);
  ASSERT_EQ(seen.finalize().size(), 1U);
  const std::vector<TileMasks> tiles{{&masks, tile}};
  Rle run;
  ASSERT_TRUE(mask_in_frame(seen, 0, tiles, {100, 100}, run));
  std::vector<std::uint8_t> bytes;
  ASSERT_TRUE(rle_decode(run, bytes));
  EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 255), 32 * 16);
  EXPECT_EQ(bytes[(20 + 32) * 100 + 10 + 32], 255);
}

TEST_F(PageTest, tracks_are_followed_with_their_masks) {
  Tracker tracker = *OcSort::create({.is_class_aware = true});
  std::vector<Track> tracks;
  TrackedFrame seen;
  MaskSet masks;
  const nanoseconds frame{33'333'333};
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(follow(tracker, decoded().detections, i * frame, tracks));
  EXPECT_EQ(tracks.size(), 1U);
  ASSERT_TRUE(masks_of_tracks(decoder_, tracker, outputs_, 5 * frame, seen, masks));
  EXPECT_EQ(seen.live, 1U);
  EXPECT_EQ(masks.size(), 1U);
}

}  // namespace
}  // namespace halyard
