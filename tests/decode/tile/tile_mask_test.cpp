// SPDX-License-Identifier: Apache-2.0
// Masks of tiles in their frame: the best one's, or all that a merged box is drawn around.
#include <gtest/gtest.h>

#include <array>

#include "decode/tensors.h"
#include "halyard/tile_mask.h"
#include "support/result.h"

namespace halyard {
namespace {

constexpr Size frame{160, 100};
constexpr std::array<Region, 2> regions{Region{0, 0, 100, 100}, Region{60, 0, 100, 100}};

// Masks that fill their boxes, which are given in pixels of a tile of 100 x 100.
MaskSet filled(const std::vector<Detection>& detections) {
  MaskPrototypes prototypes;
  prototypes.prototypes = test::filled<float>({25, 25, 1}, 1);
  prototypes.input = {100, 100};
  prototypes.clear(1);
  const float one = 1;
  for (std::size_t i = 0; i < detections.size(); ++i)
    EXPECT_TRUE(prototypes.append(
        {reinterpret_cast<const std::byte*>(&one), sizeof one, DType::f32, nullptr}));
  MaskSet out;
  EXPECT_TRUE(materialize(prototypes, detections, {}, out));
  return out;
}

// An object that both tiles see, 70 x 30 in the one and 70 x 60 in the other.
const std::vector<Detection> left{{{90, 0, 100, 10}, 0.6F, 0, 0}, {{30, 20, 100, 50}, 0.9F, 0, 1}};
const std::vector<Detection> right{{{0, 20, 70, 80}, 0.8F, 0, 0}};

TileAccumulator merged(MergeStrategy strategy) {
  const MergeOptions options{.threshold = 0.3F, .strategy = strategy};
  auto out = TileAccumulator::create(frame, 2, options).value();
  const auto tile = [](std::size_t i) {
    const Region& r = regions[i];
    TilePlacement at = TilePlacement::of_fractions(i, 2, frame, RegionF(r));
    at.to_frame = Affine{{1, 0, static_cast<double>(r.x), 0, 1, static_cast<double>(r.y)}};
    return at;
  };
  EXPECT_EQ(out.push(tile(0), left), TilePush::accepted);
  EXPECT_EQ(out.push(tile(1), right), TilePush::accepted);
  return out;
}

// Pixels of the frame that lie in one of the boxes.
Rle pixels_in(const std::vector<Box>& boxes) {
  std::vector<Rle> parts;
  for (const Box& b : boxes) {
    const Region region{static_cast<int>(b.x1), static_cast<int>(b.y1), static_cast<int>(b.width()),
                        static_cast<int>(b.height())};
    const std::vector<std::uint8_t> bytes(static_cast<std::size_t>(region.width * region.height),
                                          255);
    EXPECT_TRUE(rle_encode({region, bytes.data(), static_cast<std::size_t>(region.width)}, frame,
                           parts.emplace_back()));
  }
  return rle_merge(parts).value();
}

class TileMasksOf : public ::testing::Test {
 protected:
  Rle mask_of(const TileAccumulator& seen, std::size_t index) const {
    Rle out;
    EXPECT_OK(merge_tile_masks(seen.members(index), tiles_, frame, out));
    return out;
  }
  const MaskSet left_ = filled(left), right_ = filled(right);
  const std::array<TileMasks, 2> tiles_{TileMasks{&left_, regions[0]},
                                        TileMasks{&right_, regions[1]}};
};

TEST_F(TileMasksOf, a_union_have_the_pixels_of_all_its_members_and_no_others) {
  for (const auto strategy : {MergeStrategy::merge_union, MergeStrategy::grow}) {
    auto seen = merged(strategy);
    const auto found = seen.finalize();
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].box, (Box{30, 20, 130, 80}));
    const auto members = seen.members(0);
    ASSERT_EQ(members.size(), 2U);
    EXPECT_EQ(members[0], seen.origins()[0]);
    EXPECT_EQ(members[1], (TileOrigin{1, 0}));
    EXPECT_EQ(mask_of(seen, 0), pixels_in({{30, 20, 100, 50}, {60, 20, 130, 80}}));
    EXPECT_EQ(seen.members(1).size(), 1U);
    EXPECT_EQ(mask_of(seen, 1), pixels_in({{90, 0, 100, 10}}));
  }
}

TEST_F(TileMasksOf, the_best_are_its_own) {
  auto seen = merged(MergeStrategy::keep_best);
  ASSERT_EQ(seen.finalize().size(), 2U);
  EXPECT_EQ(seen.members(0).size(), 1U);
  EXPECT_EQ(mask_of(seen, 0), pixels_in({{30, 20, 100, 50}}));
}

TEST_F(TileMasksOf, nothing_are_none) {
  auto seen = merged(MergeStrategy::merge_union);
  EXPECT_TRUE(seen.members(0).empty()) << "before finalize()";
  const std::size_t count = seen.finalize().size();
  EXPECT_TRUE(seen.members(count).empty());
  seen.clear();
  EXPECT_TRUE(seen.members(0).empty());
}

// A box that matched the best one but not what that had grown to adds neither box nor mask.
TEST(TileMembers, of_a_grown_box_are_those_that_it_grew_by) {
  const std::vector<Detection> found{{{0, 0, 40, 10}, 0.9F, 0, 0},
                                     {{0, 0, 40, 90}, 0.8F, 0, 1},
                                     {{0, 0, 36, 10}, 0.7F, 0, 2},
                                     {{4, 0, 60, 10}, 0.6F, 0, 3}};
  const MergeOptions options{
      .metric = MergeMetric::iou, .threshold = 0.1F, .strategy = MergeStrategy::grow};
  auto seen = TileAccumulator::create(frame, 1, options).value();
  TilePlacement at = TilePlacement::of_fractions(0, 1, frame, RegionF(Region{0, 0, 160, 100}));
  at.to_frame = Affine{{1, 0, 0, 0, 1, 0}};
  ASSERT_EQ(seen.push(at, found), TilePush::accepted);
  const auto merged = seen.finalize();
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_EQ(merged[0].box, (Box{0, 0, 40, 90}));
  ASSERT_EQ(seen.members(0).size(), 3U);
  EXPECT_EQ(seen.members(0)[1], (TileOrigin{0, 1}));
  EXPECT_EQ(seen.members(0)[2], (TileOrigin{0, 2}));
}

TEST_F(TileMasksOf, what_does_not_fit_are_refused_by_name) {
  const auto merge = [&](std::vector<TileOrigin> members, std::vector<TileMasks> tiles, Size size) {
    Rle out;
    return merge_tile_masks(members, tiles, size, out);
  };
  const std::vector<TileMasks> both(tiles_.begin(), tiles_.end());
  EXPECT_TRUE(merge({{0, 1}}, both, frame));
  EXPECT_FAILS(merge({}, both, frame), "members: must not be empty");
  EXPECT_FAILS(merge({{2, 0}}, both, frame), "tile 2 of 2");
  EXPECT_FAILS(merge({{0, 0}}, {{nullptr, regions[0]}}, frame), "a member's tile has no masks");
  EXPECT_FAILS(merge({{1, 1}}, both, frame), "mask 1 of 1 of tile 1");
  EXPECT_FAILS(merge({{0, 0}}, {{&left_, {0, 0, 90, 100}}}, frame), "100x100, tile 0 has 90x100");
  EXPECT_FAILS(merge({{1, 0}}, both, {159, 100}), "tile 1 at 60,0 of 100x100 in 159x100");
  EXPECT_FAILS(merge({{0, 0}}, {{&left_, {-1, 0, 100, 100}}}, frame), "must lie in the frame");
}

}  // namespace
}  // namespace halyard
