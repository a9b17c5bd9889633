// SPDX-License-Identifier: Apache-2.0
// Tiles of frames: where they lie, and that each equals a crop of its own.
#include "halyard/tiling.h"

#include <gtest/gtest.h>

#include <limits>

#include "halyard/image.h"
#include "images.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

std::vector<int> begins(int frame, int tile, double overlap) {
  const auto tiles = plan_tiles({frame, 10}, {.size = {tile, 10}, .overlap = overlap}).value();
  std::vector<int> out;
  for (const Tile& t : tiles)
    out.push_back(t.region.x);
  return out;
}

TEST(Tiling, worked_numbers) {
  EXPECT_EQ(begins(1920, 640, 0.1), (std::vector{0, 427, 853, 1280}));
  EXPECT_EQ(begins(3840, 640, 0.2), (std::vector{0, 457, 914, 1371, 1829, 2286, 2743, 3200}));
  EXPECT_EQ(begins(2160, 640, 0.2), (std::vector{0, 507, 1013, 1520}));
  EXPECT_EQ(begins(641, 640, 0.2), (std::vector{0, 1}));
  EXPECT_EQ(begins(1920, 640, 0), (std::vector{0, 640, 1280}));
  EXPECT_EQ(begins(640, 640, 0.2), (std::vector{0}));
  EXPECT_EQ(begins(100, 640, 0.2), (std::vector{0}));
  EXPECT_EQ(begins(5, 3, 0.99), (std::vector{0, 1, 2}));  // a step of at least one pixel
}

TEST(Tiling, tiles_go_by_rows_and_the_last_ones_are_flush) {
  const auto tiles = plan_tiles({3840, 2160}).value();
  ASSERT_EQ(tiles.size(), 32U);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    EXPECT_EQ(tiles[i].index, i);
    EXPECT_EQ(tiles[i].count, 32U);
    EXPECT_EQ(tiles[i].frame, (Size{3840, 2160}));
    EXPECT_EQ(tiles[i].region.width, 640);
    EXPECT_EQ(tiles[i].region.height, 640);
  }
  EXPECT_EQ(tiles[8].region, (Region{0, 507, 640, 640}));
  EXPECT_EQ(tiles[31].region, (Region{3200, 1520, 640, 640}));
}

TEST(Tiling, a_frame_smaller_than_the_tile_is_one_tile) {
  const auto tiles = plan_tiles({300, 900}, {.size = {640, 640}, .overlap = 0.5}).value();
  ASSERT_EQ(tiles.size(), 2U);
  EXPECT_EQ(tiles[0].region, (Region{0, 0, 300, 640}));
  EXPECT_EQ(tiles[1].region, (Region{0, 260, 300, 640}));
}

TEST(Tiling, refuses_what_has_no_meaning_and_names_it) {
  const auto refusal = [](Size frame, const TileOptions& options) {
    const auto tiles = plan_tiles(frame, options);
    if (tiles || tiles.error().code != Errc::invalid_argument) return std::string("none");
    return tiles.error().message().substr(0, 5);
  };
  EXPECT_EQ(refusal({0, 10}, {}), "frame");
  EXPECT_EQ(refusal({10, -1}, {}), "frame");
  EXPECT_EQ(refusal({10, 10}, {.size = {0, 5}}), "size:");
  EXPECT_EQ(refusal({10, 10}, {.size = {5, -5}}), "size:");
  EXPECT_EQ(refusal({10, 10}, {.overlap = 1}), "overl");
  EXPECT_EQ(refusal({10, 10}, {.overlap = -0.1}), "overl");
  EXPECT_EQ(refusal({10, 10}, {.overlap = std::numeric_limits<double>::quiet_NaN()}), "overl");
  constexpr std::int32_t maximum = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(refusal({maximum, maximum}, {.size = {1, 1}, .overlap = 0}), "size:");
  EXPECT_EQ(refusal({65535, 65535}, {.size = {2, 2}}), "size:");
}

TEST(Tiling, the_largest_frames_stay_inside) {
  constexpr std::int32_t maximum = std::numeric_limits<std::int32_t>::max();
  const auto tiles = plan_tiles({maximum, 1}, {.size = {1 << 20, 1}, .overlap = 0.1}).value();
  for (const Tile& tile : tiles)
    ASSERT_LE(tile.region.x, maximum - tile.region.width);
  EXPECT_EQ(tiles.back().region.x, maximum - (1 << 20));
}

class TilesTest : public ::testing::Test {
 protected:
  Random random_{11};
  Processor processor_ = Processor::create({.threads = 2}).value();
  Tensor frame_ = random_image(random_, 100, 70, F::nv12);
  std::vector<Tile> tiles_ = plan_tiles(frame_.size(), {.size = {48, 40}}).value();
  Tensor batch_ = Tensor::create_image_batch(tiles_.size(), 32, 32, F::rgb).value();
};

TEST_F(TilesTest, each_tile_is_what_its_crop_alone_would_be) {
  Convert like{.fit = Fit::letterbox};
  ASSERT_VALUE(const auto placed, processor_.convert_tiles(frame_, tiles_, batch_, like));
  ASSERT_EQ(placed.size(), tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i) {
    Convert alone = like;
    alone.src = frame_;
    alone.crop = tiles_[i].region;
    alone.dst = zero_image(32, 32, F::rgb);
    ASSERT_TRUE(processor_.convert(alone));
    EXPECT_EQ(greatest_difference(batch_.batch(i).value(), alone.dst), 0) << "tile " << i;
    EXPECT_EQ(placed[i].source(), frame_.size());
    EXPECT_EQ(placed[i].crop(), RegionF(tiles_[i].region));
  }
}

TEST_F(TilesTest, refuses_crops_strange_tiles_and_small_batches_by_name) {
  const auto before = bytes_of(batch_.batch(0).value());
  const auto refusal = [&](const Convert& like, std::span<const Tile> tiles, const Tensor& batch) {
    const auto result = processor_.convert_tiles(frame_, tiles, batch, like);
    EXPECT_EQ(bytes_of(batch_.batch(0).value()), before);
    if (result || result.error().code != Errc::invalid_argument) return std::string("none");
    return result.error().message().substr(0, 9);
  };
  Convert cropped{.crop = Region{0, 0, 4, 4}};
  EXPECT_EQ(refusal(cropped, tiles_, batch_), "like.crop");
  auto outside = tiles_;
  outside.back().region.x += 1;
  EXPECT_EQ(refusal({}, outside, batch_), "tiles: on");
  outside.back().region = {0, 0, std::numeric_limits<std::int32_t>::max(), 4};
  EXPECT_EQ(refusal({}, outside, batch_), "tiles: on");
  const Tensor small = Tensor::create_image_batch(2, 32, 32, F::rgb).value();
  EXPECT_EQ(refusal({}, tiles_, small), "tiles: mu");
  EXPECT_EQ(refusal({}, tiles_, zero_image(32, 32, F::rgb)), "batch: ne");
}

}  // namespace
}  // namespace halyard::test
