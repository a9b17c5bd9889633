// SPDX-License-Identifier: Apache-2.0
// Tiles: where they lie and what becomes of their boxes. Numbers are those of edgefirst_hal 0.28.3,
// but for what the last test names.
#include <gtest/gtest.h>

#include <limits>

#include "halyard/compat/tile.h"
#include "heads.h"
#include "support/result.h"

namespace halyard {
namespace {

using namespace compat;
using test::expect_box;

TEST(compat_tile, grids_are_spread_evenly_by_rows) {
  const auto grid = tile_grid({3840, 2160}, {640, 640}, .2F);
  ASSERT_TRUE(grid);
  ASSERT_EQ(grid->size(), 32U);
  EXPECT_EQ(grid->back().row, 3U);
  EXPECT_EQ(grid->back().col, 7U);
  EXPECT_EQ(grid->back().source, (Region{3200, 1520, 640, 640}));
  const auto row = tile_grid({1920, 640}, {640, 640}, .1F);
  ASSERT_EQ(row->size(), 4U);
  EXPECT_EQ((*row)[1].source.x, 427);
  EXPECT_EQ((*row)[2].source.x, 853);
  EXPECT_EQ((*row)[3].source.x, 1280);
  EXPECT_EQ(code_of(tile_grid({1920, 640}, {640, 640}, 1)), Errc::invalid_argument);
  EXPECT_EQ(code_of(tile_grid({1920, 640}, {0, 640}, 0)), Errc::invalid_argument);
}

TEST(compat_tile, a_small_frame_is_one_tile_with_its_letterbox) {
  TilingConfig config{{640, 640}};
  auto plan = plan_tiles({400, 300}, config);
  ASSERT_EQ(plan->size(), 1U);
  EXPECT_FALSE(plan->front().letterbox);
  EXPECT_EQ(plan->front().crop_size, (std::array<float, 2>{400, 300}));
  config.fit = Fit::letterbox;
  plan = plan_tiles({400, 300}, config);
  EXPECT_EQ(plan->front().letterbox, (std::array<float, 4>{0, .125F, 1, .875F}));
  plan = plan_tiles({1000, 300}, config);
  EXPECT_EQ(plan->front().letterbox, (std::array<float, 4>{0, .265625F, 1, .734375F}));
}

TEST(compat_tile, boxes_are_lifted_and_clamped_where_there_is_a_letterbox) {
  compat::TilePlacement tile{0, 2, {100, 200}, {640, 640}, {1920, 1080}, {}};
  const std::vector<Detection> boxes{{{.1F, .1F, .9F, .9F}, 1, 0}, {{-1, -1, 3, 3}, 1, 0}};
  std::vector<Detection> out;
  lift_tile_boxes(boxes, tile, out);
  expect_box(out[0].box, {164, 264, 676, 776}, 1e-3F);
  expect_box(out[1].box, {-540, -440, 2020, 2120}, 1e-3F);
  tile.letterbox = {.1F, .1F, .9F, .9F};
  lift_tile_boxes(boxes, tile, out);
  expect_box(out[0].box, {100, 200, 740, 840}, 1e-3F);
  expect_box(out[1].box, {100, 200, 740, 840}, 1e-3F);
}

TEST(compat_tile, matching_boxes_become_the_box_around_them) {
  const std::vector<Detection> boxes{{{10, 10, 50, 50}, .5F, 0},
                                     {{40, 40, 80, 80}, .9F, 0},
                                     {{12, 12, 48, 48}, .9F, 0},
                                     {{100, 100, 120, 120}, .3F, 1},
                                     {{300, 300, 290, 310}, .4F, 1}};
  auto merged = merge_tiled_detections(boxes, {});
  ASSERT_TRUE(merged);
  ASSERT_EQ(merged->size(), 4U);
  EXPECT_EQ((*merged)[0].box, (Box{40, 40, 80, 80}));
  EXPECT_EQ((*merged)[1].box, (Box{10, 10, 50, 50}));
  EXPECT_EQ((*merged)[1].score, .9F);
  EXPECT_EQ((*merged)[2].box, (Box{290, 300, 300, 310}));
  EXPECT_EQ((*merged)[3].label, 1);
  EXPECT_EQ(merge_tiled_detections(boxes, {.max_det = 2})->size(), 2U);
  EXPECT_EQ(merge_tiled_detections(boxes, {.max_det = 0})->size(), 0U);
  EXPECT_EQ(merge_tiled_detections(boxes, {.score_threshold = .4F})->size(), 3U);
  EXPECT_EQ(merge_tiled_detections(boxes, {.threshold = 1.5F})->size(), 5U);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(code_of(merge_tiled_detections(boxes, {.threshold = nan})), Errc::invalid_argument);
}

TEST(compat_tile, an_accumulator_takes_each_tile_once_in_any_order) {
  const Detection left{{.75F, .25F, 1, .5F}, .8F, 0}, right{{0, .25F, .25F, .5F}, .9F, 0};
  const compat::TilePlacement first{0, 2, {0, 0}, {100, 100}, {200, 100}, {}};
  const compat::TilePlacement second{1, 2, {70, 0}, {100, 100}, {200, 100}, {}};
  std::vector<Detection> results[2];
  for (const bool reversed : {false, true}) {
    auto tiles = compat::TileAccumulator::create({200, 100}, 2, {});
    ASSERT_TRUE(tiles);
    if (reversed) {
      EXPECT_TRUE(tiles->push_tile({&right, 1}, second));
      EXPECT_TRUE(tiles->push_tile({&left, 1}, first));
    } else {
      EXPECT_TRUE(tiles->push_tile({&left, 1}, first));
      EXPECT_FALSE(tiles->push_tile({&right, 1}, first));
      EXPECT_FALSE(tiles->push_tile({&right, 1}, {1, 3, {70, 0}, {100, 100}, {200, 100}, {}}));
      EXPECT_FALSE(tiles->push_tile({&right, 1}, {2, 2, {70, 0}, {100, 100}, {200, 100}, {}}));
      EXPECT_EQ(tiles->remaining(), 1U);
      EXPECT_TRUE(tiles->push_tile({&right, 1}, second));
    }
    EXPECT_TRUE(tiles->is_complete());
    EXPECT_FALSE(tiles->push_tile({}, {2, 2, {}, {}, {}, {}}));
    EXPECT_FALSE(tiles->push_tile({}, {1, 3, {}, {}, {}, {}}));
    EXPECT_EQ(tiles->remaining(), 0U);
    results[reversed ? 1 : 0] = tiles->finalize();
    const auto fractions = tiles->finalize_normalized();
    ASSERT_EQ(fractions.size(), 1U);
    expect_box(fractions[0].box, {.35F, .25F, .5F, .5F});
  }
  ASSERT_EQ(results[0].size(), 1U);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0][0].box, (Box{70, 25, 100, 50}));
  EXPECT_EQ(results[0][0].score, .9F);
  auto none = compat::TileAccumulator::create({0, 100}, 0, {});
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->is_complete());
  EXPECT_TRUE(none->finalize_normalized().empty());
}

TEST(compat_tile, pixels_of_tiles_come_from_their_places) {
  Tensor source = *Tensor::create_image(64, 24, PixelFormat::grey, DType::u8, Memory::mem);
  {
    const auto map = source.map(Access::write);
    for (std::size_t i = 0; i < 64 * 24; ++i)
      map->writable()[i] = static_cast<std::byte>((i % 64) * 3 + i / 64);
  }
  auto processor = Processor::create();
  ASSERT_TRUE(processor);
  const TilingConfig config{{32, 16}, 0};
  const Tensor batch = *alloc_tile_batch(4, config, PixelFormat::grey);
  EXPECT_TRUE(alloc_tile_batch(1, {.tile = {1, 1}}, PixelFormat::grey));
  for (const auto& [count, tile] :
       {std::pair{0, Size{8, 8}}, {65537, {8, 8}}, {1, {0, 8}}, {1, {8, 0}}})
    EXPECT_FAILS(
        alloc_tile_batch(static_cast<std::size_t>(count), {.tile = tile}, PixelFormat::grey),
        Errc::invalid_argument, "tiles: must be 1..65536");
  const auto placed = tile_into(*processor, source, batch, config);
  ASSERT_TRUE(placed) << placed.error().message();
  ASSERT_EQ(placed->size(), 4U);
  const auto map = batch.map(Access::read);
  for (const compat::TilePlacement& tile : *placed) {
    const auto x = static_cast<std::size_t>(tile.origin[0]),
               y = static_cast<std::size_t>(tile.origin[1]);
    EXPECT_EQ(static_cast<std::size_t>(map->data()[tile.index * 16 * 32 + 2 * 32 + 5]),
              (x + 5) * 3 + y + 2);
  }
  Tensor slot = *Tensor::create_image(32, 16, PixelFormat::grey, DType::u8, Memory::mem);
  ASSERT_TRUE(tile_one(*processor, source, slot, (*placed)[3], config));
  EXPECT_EQ(std::memcmp(slot.map(Access::read)->data(), map->data() + 3 * 16 * 32, 16 * 32), 0);
  compat::TilePlacement wrong = (*placed)[0];
  for (const float x : {-1.0F, .5F, 40.0F, std::numeric_limits<float>::infinity()}) {
    wrong.origin[0] = x;
    EXPECT_EQ(code_of(tile_one(*processor, source, slot, wrong, config)), Errc::invalid_argument);
  }
  EXPECT_EQ(code_of(tile_into(*processor, source, slot, config)), Errc::invalid_argument);
}

}  // namespace
}  // namespace halyard
