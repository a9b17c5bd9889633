// SPDX-License-Identifier: Apache-2.0
// Boxes of tiles lifted into the frame, and the accumulator: who is taken, in which order, again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "decode/reference/tile_merge_naive.h"
#include "halyard/tile_merge.h"
#include "support/allocations.h"
#include "support/special_values.h"

namespace halyard::test {
namespace {

constexpr FrameSize full_hd{1920, 1080};
const RegionF tile_at_100_200{100, 200, 640, 640};
const Box letterbox{0.1F, 0.1F, 0.9F, 0.9F};

using Detections = std::vector<Detection>;

void expect_near(const Box& a, const Box& b, float maximum) {
  EXPECT_NEAR(a.x1, b.x1, maximum);
  EXPECT_NEAR(a.y1, b.y1, maximum);
  EXPECT_NEAR(a.x2, b.x2, maximum);
  EXPECT_NEAR(a.y2, b.y2, maximum);
}

TilePlacement fractions(const std::optional<Box>& shown = std::nullopt,
                        const RegionF& crop = tile_at_100_200) {
  return TilePlacement::of_fractions(0, 1, full_hd, crop, shown);
}

TEST(TileLift, fractions_of_a_tile_become_frame_pixels) {
  EXPECT_EQ(lift(fractions(), {0, 0, 1, 1}), (Box{100, 200, 740, 840}));
  EXPECT_EQ(lift(fractions(), {0.25F, 0.5F, 0.75F, 1}), (Box{260, 520, 580, 840}));
}

TEST(TileLift, a_letterbox_is_undone) {
  const RegionF at_corner{0, 0, 640, 640};
  expect_near(lift(fractions(letterbox, at_corner), letterbox), {0, 0, 640, 640}, 1e-3F);
  // Frame pixels to the tile's input and back.
  const Box box{228, 328, 420, 520};
  const auto forth = [](float v, float origin) { return 0.1F + (v - origin) / 640 * 0.8F; };
  const Box in_tile{forth(box.x1, 100), forth(box.y1, 200), forth(box.x2, 100), forth(box.y2, 200)};
  expect_near(lift(fractions(letterbox), in_tile), box, 1e-2F);
}

TEST(TileLift, what_lies_in_the_pad_ends_at_the_tile) {
  EXPECT_EQ(lift(fractions(letterbox), {0, 0, 0.05F, 0.05F}), (Box{100, 200, 100, 200}));
  EXPECT_EQ(lift(fractions(), {-0.1F, -0.1F, 1.2F, 1.3F}), (Box{100, 200, 740, 840}));
  TilePlacement open = fractions();
  open.is_clipped = false;
  expect_near(lift(open, {-0.1F, -0.1F, 1.2F, 1.3F}), {36, 136, 868, 1032}, 1e-3F);
}

TEST(TileLift, a_letterbox_of_no_extent_stays_finite) {
  const Box flat{0.1F, 0.1F, 0.1F, 0.9F};
  expect_near(lift(fractions(flat), {0.2F, 0.2F, 0.5F, 0.5F}), {164, 280, 356, 520}, 1e-3F);
}

TEST(TileLift, boxes_become_canonical) {
  expect_near(lift(fractions(), {0.9F, 0.8F, 0.1F, 0.2F}), {164, 328, 676, 712}, 1e-3F);
}

TEST(TileLift, a_box_that_is_not_finite_becomes_nan) {
  for (const float bad : {nan, infinity, -infinity}) {
    const Box box = lift(fractions(), {0.1F, bad, 0.2F, 0.3F});
    EXPECT_TRUE(std::isnan(box.x1) && std::isnan(box.y1) && std::isnan(box.x2));
  }
}

// What a converter says of a tile at (100, 200), letterboxed into 320 x 320.
Placement placed(const RegionF& crop, Orientation orientation = {}) {
  const bool swaps = swaps_axes(orientation.rotation);
  const Region content = letterbox_region(swaps ? crop.height : crop.width,
                                          swaps ? crop.width : crop.height, {320, 320}, {});
  return Placement({1920, 1080}, crop, orientation, {320, 320}, content);
}

TEST(TileLift, pixels_of_the_input_go_back_as_the_placement_says) {
  const RegionF crop{100, 200, 640, 480};
  for (int turn = 0; turn < 4; ++turn) {
    for (const Flip flip : {Flip::none, Flip::horizontal, Flip::vertical}) {
      const Placement placement = placed(crop, {flip, static_cast<Rotation>(turn)});
      const TilePlacement tile = TilePlacement::of(3, 8, placement);
      EXPECT_EQ(tile.index, 3U);
      EXPECT_EQ(tile.count, 8U);
      EXPECT_EQ(tile.frame, full_hd);
      EXPECT_EQ(tile.crop, crop);
      const Box box{228, 328, 420, 520};
      expect_near(lift(tile, placement.to_destination(box)), box, 1e-2F);
    }
  }
}

TEST(TileLift, pads_of_the_input_are_no_part_of_the_tile) {
  // 640 x 480 in 320 x 320: 40 rows of pad above and below.
  const TilePlacement tile = TilePlacement::of(0, 1, placed({100, 200, 640, 480}));
  EXPECT_EQ(lift(tile, {0, 0, 320, 320}), (Box{100, 200, 740, 680}));
  EXPECT_EQ(lift(tile, {0, 0, 320, 40}), (Box{100, 200, 740, 200}));
}

TEST(TileLift, a_list_keeps_its_scores_labels_and_order) {
  Detections list{{{0, 0, 1, 1}, 0.5F, 3, 4}, {{0.25F, 0.5F, 0.75F, 1}, 0.25F, 5, 6}};
  lift(fractions(), list);
  EXPECT_EQ(list,
            (Detections{{{100, 200, 740, 840}, 0.5F, 3, 4}, {{260, 520, 580, 840}, 0.25F, 5, 6}}));
}

TEST(TileFractions, boxes_are_divided_by_the_frame) {
  Detections list{{{192, 108, 960, 540}, 0.5F, 0, 0}};
  to_fractions(full_hd, list);
  expect_near(list[0].box, {0.1F, 0.1F, 0.5F, 0.5F}, 1e-6F);
}

TEST(TileFractions, of_a_frame_without_extent_nothing_is_left) {
  for (const float bad : {0.0F, -1.0F, nan, infinity}) {
    Detections list{{{192, 108, 960, 540}, 0.5F, 0, 0}};
    to_fractions({bad, 1080}, list);
    EXPECT_TRUE(list.empty());
    list.push_back({});
    to_fractions({1920, bad}, list);
    EXPECT_TRUE(list.empty());
  }
}

// Two tiles of 1280 x 640, side by side with a seam; an object across it, seen whole in none.
struct Seam {
  std::vector<TilePlacement> tiles{
      TilePlacement::of_fractions(0, 2, {2304, 640}, {0, 0, 1280, 640}),
      TilePlacement::of_fractions(1, 2, {2304, 640}, {1024, 0, 1280, 640})};
  std::vector<Detections> found{
      {{{0.7F, 0.25F, 1, 0.75F}, 0.875F, 2, 10}, {{0.1F, 0.1F, 0.2F, 0.3F}, 0.5F, 1, 11}},
      {{{0, 0.25F, 0.3F, 0.75F}, 0.875F, 2, 20}, {{0.5F, 0.5F, 0.6F, 0.6F}, 0.75F, 1, 21}}};

  TileAccumulator accumulator(const MergeOptions& options = {}) const {
    return TileAccumulator::create({2304, 640}, 2, options).value();
  }
  void push(TileAccumulator& to, std::size_t tile) const {
    EXPECT_EQ(to.push(tiles[tile], found[tile]), TilePush::accepted);
  }
};

TEST(TileAccumulation, either_order_gives_the_identical_result) {
  const Seam seam;
  for (const MergeStrategy strategy : strategies) {
    const MergeOptions options{.strategy = strategy};
    TileAccumulator a = seam.accumulator(options);
    TileAccumulator b = seam.accumulator(options);
    seam.push(a, 0);
    seam.push(a, 1);
    seam.push(b, 1);
    seam.push(b, 0);
    const Detections first = a.finalize();
    EXPECT_EQ(first.size(), 3U);
    EXPECT_EQ(first, b.finalize());
    EXPECT_TRUE(std::ranges::equal(a.origins(), b.origins()));
  }
}

TEST(TileAccumulation, normalized_is_pixels_by_the_frame) {
  const Seam seam;
  TileAccumulator tiles = seam.accumulator();
  seam.push(tiles, 0);
  seam.push(tiles, 1);
  const Detections pixels = tiles.finalize();
  Detections shares;
  tiles.finalize_normalized(shares);
  ASSERT_EQ(pixels.size(), shares.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const Box& p = pixels[i].box;
    expect_near(shares[i].box, {p.x1 / 2304, p.y1 / 640, p.x2 / 2304, p.y2 / 640}, 1e-4F);
    EXPECT_EQ(shares[i].score, pixels[i].score);
  }
}

TEST(TileAccumulation, it_counts_what_is_missing_and_merges_what_is_there) {
  const Seam seam;
  TileAccumulator tiles = seam.accumulator();
  EXPECT_EQ(tiles.remaining(), 2U);
  EXPECT_TRUE(tiles.finalize().empty());
  seam.push(tiles, 1);
  EXPECT_EQ(tiles.remaining(), 1U);
  EXPECT_FALSE(tiles.is_complete());
  EXPECT_EQ(tiles.finalize().size(), 2U);
  seam.push(tiles, 0);
  EXPECT_TRUE(tiles.is_complete());
  EXPECT_EQ(tiles.finalize().size(), 3U);
}

TEST(TileAccumulation, what_does_not_belong_is_refused_and_changes_nothing) {
  const Seam seam;
  TileAccumulator tiles = seam.accumulator();
  seam.push(tiles, 0);
  const Detections before = tiles.finalize();
  const auto refused = [&](auto change) {
    TilePlacement tile = seam.tiles[1];
    change(tile);
    const TilePush result = tiles.push(tile, seam.found[1]);
    EXPECT_EQ(tiles.remaining(), 1U);
    EXPECT_EQ(tiles.finalize(), before);
    return result;
  };
  EXPECT_EQ(refused([](TilePlacement& t) { t.index = 0; }), TilePush::duplicate);
  EXPECT_EQ(refused([](TilePlacement& t) { t.index = 2; }), TilePush::out_of_range);
  EXPECT_EQ(refused([](TilePlacement& t) { t.count = 3; }), TilePush::foreign);
  EXPECT_EQ(refused([](TilePlacement& t) { t.frame = full_hd; }), TilePush::foreign);
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_EQ(refused([&](TilePlacement& t) { t.crop.width = bad; }), TilePush::unusable);
    EXPECT_EQ(refused([&](TilePlacement& t) { t.crop.height = bad; }), TilePush::unusable);
  }
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    EXPECT_EQ(refused([&](TilePlacement& t) { t.crop.x = bad; }), TilePush::unusable);
    EXPECT_EQ(refused([&](TilePlacement& t) { t.crop.y = bad; }), TilePush::unusable);
    for (std::size_t i = 0; i < 6; ++i)
      EXPECT_EQ(refused([&](TilePlacement& t) { t.to_frame.m[i] = bad; }), TilePush::unusable);
  }
  seam.push(tiles, 1);
}

TEST(TileAccumulation, what_is_no_number_is_dropped_and_the_tile_is_taken) {
  const Seam seam;
  TileAccumulator tiles = seam.accumulator();
  const Detections bad{{{nan, 0, 1, 1}, 0.5F, 0, 0},
                       {{0, 0, infinity, 1}, 0.5F, 0, 0},
                       {{0, 0, 1, 1}, nan, 0, 0},
                       {{0, 0, 1, 1}, 0.5F, 0, 7}};
  EXPECT_EQ(tiles.push(seam.tiles[0], bad), TilePush::accepted);
  ASSERT_EQ(tiles.finalize().size(), 1U);
  EXPECT_EQ(tiles.origins()[0], (TileOrigin{0, 3}));
}

TEST(TileAccumulation, more_than_a_frame_can_have_is_refused) {
  const Seam seam;
  TileAccumulator tiles = seam.accumulator();
  seam.push(tiles, 0);
  // The length alone is looked at.
  const std::span<const Detection> many(seam.found[1].data(), (std::size_t{1} << 24) - 1);
  EXPECT_EQ(tiles.push(seam.tiles[1], many), TilePush::full);
  EXPECT_EQ(tiles.remaining(), 1U);
  seam.push(tiles, 1);
}

TEST(TileAccumulation, origins_name_the_tile_and_the_place_of_the_best) {
  Seam seam;
  seam.found[1][0].score = 0.9F;
  TileAccumulator tiles = seam.accumulator();
  seam.push(tiles, 1);
  seam.push(tiles, 0);
  const Detections out = tiles.finalize();
  ASSERT_EQ(tiles.origins().size(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const TileOrigin at = tiles.origins()[i];
    const Detection& from = seam.found[at.tile][at.detection];
    EXPECT_EQ(out[i].anchor, from.anchor);
    EXPECT_EQ(out[i].score, from.score);
    EXPECT_EQ(out[i].box, lift(seam.tiles[at.tile], from.box));
  }
}

TEST(TileAccumulation, equal_detections_go_by_tile_and_place) {
  const auto whole_frame = [](std::size_t index) {
    return TilePlacement::of_fractions(index, 2, full_hd, {0, 0, 1920, 1080});
  };
  const Detections twins(2, {{0, 0, 1, 1}, 0.5F, 0, 0});
  TileAccumulator tiles = TileAccumulator::create(full_hd, 2).value();
  EXPECT_EQ(tiles.push(whole_frame(1), twins), TilePush::accepted);
  EXPECT_EQ(tiles.push(whole_frame(0), twins), TilePush::accepted);
  EXPECT_EQ(tiles.finalize().size(), 1U);
  EXPECT_EQ(tiles.origins()[0], (TileOrigin{0, 0}));
}

TEST(TileAccumulation, the_next_frame_gives_the_same_and_takes_no_memory) {
  const Seam seam;
  for (const MergeStrategy strategy : strategies) {
    const MergeOptions options{.strategy = strategy};
    TileAccumulator tiles = seam.accumulator(options);
    Detections out;
    const auto frame = [&] {
      tiles.clear();
      seam.push(tiles, 0);
      seam.push(tiles, 1);
      tiles.finalize(out);
      tiles.finalize_normalized(out);
    };
    EXPECT_EQ(allocations_of(frame), 0U);
    EXPECT_EQ(out.size(), 3U);
    tiles.clear();
    EXPECT_EQ(tiles.remaining(), 2U);
    EXPECT_TRUE(tiles.finalize().empty());
    EXPECT_TRUE(tiles.origins().empty());
  }
}

TEST(TileAccumulation, fresh_memory_is_seen_by_the_counter) {
  EXPECT_GE(allocations_of([] { return TileAccumulator::create(full_hd, 2).has_value(); }), 20U);
}

TEST(TileAccumulation, it_says_what_it_was_made_for) {
  const MergeOptions options{.threshold = 0.25F};
  const auto tiles = TileAccumulator::create({1280, 640}, 3, options).value();
  EXPECT_EQ(tiles.frame(), (FrameSize{1280, 640}));
  EXPECT_EQ(tiles.options().threshold, 0.25F);
}

TEST(TileAccumulation, frames_and_counts_without_meaning_are_refused_by_name) {
  const auto refusal = [](FrameSize frame, std::size_t tiles, MergeOptions options = {},
                          std::size_t each = 16) {
    const auto result = TileAccumulator::create(frame, tiles, options, each);
    if (result || result.error().code != Errc::invalid_argument) return std::string("none");
    const std::string text = result.error().message();
    return text.substr(0, text.find(':'));
  };
  for (const float bad : {0.0F, -1.0F, nan, infinity}) {
    EXPECT_EQ(refusal({bad, 1}, 1), "frame");
    EXPECT_EQ(refusal({1, bad}, 1), "frame");
  }
  EXPECT_EQ(refusal(full_hd, 0), "tiles");
  EXPECT_EQ(refusal(full_hd, 65537), "tiles");
  EXPECT_EQ(refusal(full_hd, 1, {}, 65537), "detections_per_tile");
  const MergeOptions options{.threshold = 2};
  EXPECT_EQ(refusal(full_hd, 1, options), "threshold");
}

}  // namespace
}  // namespace halyard::test
