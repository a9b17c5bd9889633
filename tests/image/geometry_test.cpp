// SPDX-License-Identifier: Apache-2.0
// Where images are placed, and the way back: fits, crops between pixels, affine maps, masks.
#include <gtest/gtest.h>

#include "halyard/image.h"
#include "images.h"
#include "support/product.h"
#include "support/result.h"

namespace halyard::test {
namespace {

using F = PixelFormat;

class GeometryTest : public ::testing::Test {
 protected:
  Placement placed(const Convert& request) {
    const auto placement = processor_.convert(request);
    EXPECT_OK(placement);
    return placement.value();
  }
  Convert request(Size from, Size to) {
    Convert c{random_image(random_, from.width, from.height, F::grey),
              random_image(random_, to.width, to.height, F::grey)};
    return c;
  }
  Random random_{9};
  Processor processor_ = Processor::create({.threads = 1}).value();
};

TEST_F(GeometryTest, trainers_boxes_are_mapped_by_pad_and_ratio) {
  Convert c = request({1283, 720}, {640, 640});
  c.fit = Fit::letterbox;
  c.letterbox = LetterboxRule::ultralytics;
  const Placement p = placed(c);
  EXPECT_EQ(p.content(), (Region{0, 140, 640, 359}));
  const double r = 640.0 / 1283;
  const Box back = p.to_source(Box{10, 150, 600, 490});
  EXPECT_FLOAT_EQ(back.x1, static_cast<float>(10 / r));
  EXPECT_FLOAT_EQ(back.y1, static_cast<float>(10 / r));
  EXPECT_FLOAT_EQ(back.x2, static_cast<float>(600 / r));
  EXPECT_FLOAT_EQ(back.y2, static_cast<float>(350 / r));
  EXPECT_EQ(code_at(c.dst, 0, 5, 139), 114);
  EXPECT_EQ(code_at(c.dst, 0, 5, 499), 114);
}

TEST_F(GeometryTest, validation_does_not_enlarge) {
  Convert c = request({50, 37}, {64, 64});
  c.fit = Fit::letterbox;
  c.letterbox = LetterboxRule::ultralytics_val;
  const Placement p = placed(c);
  EXPECT_EQ(p.content(), (Region{7, 13, 50, 37}));
  EXPECT_EQ(p.to_source(Box{7, 13, 57, 50}), (Box{0, 0, 50, 37}));
  for (const auto& [x, y] : {std::pair{0, 0}, std::pair{49, 36}, std::pair{20, 11}})
    EXPECT_EQ(code_at(c.dst, 0, x + 7, y + 13), code_at(c.src, 0, x, y));
}

TEST_F(GeometryTest, cover_cuts_both_sides_alike) {
  Convert c = request({100, 50}, {40, 40});
  c.fit = Fit::cover;
  const Placement p = placed(c);
  EXPECT_EQ(p.content(), (Region{0, 0, 40, 40}));
  EXPECT_EQ(p.crop(), (RegionF{25, 0, 50, 50}));
  EXPECT_EQ(p.to_source(Box{0, 0, 40, 40}), (Box{25, 0, 75, 50}));
  // Rotated by 90 degrees, the long side is cut again.
  c.rotation = Rotation::cw90;
  EXPECT_EQ(placed(c).crop(), (RegionF{25, 0, 50, 50}));
  c.dst = random_image(random_, 40, 20, F::grey);
  // The rotated image is 50 x 100; 25 of its rows are shown.
  EXPECT_EQ(placed(c).crop(), (RegionF{37.5, 0, 25, 50}));
}

TEST_F(GeometryTest, cover_keeps_whole_numbers_whole) {
  // 63 / (63 / 26) is not 26.
  Convert c = request({63, 63}, {63, 63});
  c.crop = Region{7, 23, 38, 26};
  c.fit = Fit::cover;
  EXPECT_EQ(placed(c).crop(), (RegionF{13, 23, 26, 26}));
  c.rotation = Rotation::cw270;
  EXPECT_EQ(placed(c).crop(), (RegionF{13, 23, 26, 26}));
  c.crop = Region{7, 23, 26, 38};
  EXPECT_EQ(placed(c).crop(), (RegionF{7, 29, 26, 26}));
}

TEST_F(GeometryTest, top_left_pads_right_and_below_only) {
  Convert c = request({100, 50}, {40, 40});
  c.fit = Fit::top_left;
  EXPECT_EQ(placed(c).content(), (Region{0, 0, 40, 20}));
  EXPECT_EQ(code_at(c.dst, 0, 3, 20), 114);
  c.place = Region{4, 6, 30, 30};
  EXPECT_EQ(placed(c).content(), (Region{4, 6, 30, 15}));
}

TEST_F(GeometryTest, an_orientation_comes_before_flip_and_rotation) {
  // A rotation by 90 degrees, then a horizontal flip.
  Convert c = request({6, 4}, {4, 6});
  c.orientation = Orientation{Flip::none, Rotation::cw90};
  c.flip = Flip::horizontal;
  const Placement p = placed(c);
  for (const auto [y, x] : grid(4, 6))
    ASSERT_EQ(code_at(c.dst, 0, y, x), code_at(c.src, 0, x, y));
  // The placement refers to the upright image, 4 x 6.
  EXPECT_EQ(p.source(), (Size{4, 6}));
  EXPECT_FLOAT_EQ(p.to_destination(Point{0.5F, 5.5F}).y, 5.5F);
  EXPECT_FLOAT_EQ(p.to_destination(Point{0.5F, 5.5F}).x, 3.5F);
}

constexpr RegionF part{3, 5, 20, 11};
// No centre lies between two pixels.
constexpr Affine slanted{{0.53, 0.27, 1.1, -0.23, 0.47, 6.3}};

std::vector<Orientation> every_orientation() {
  std::vector<Orientation> all;
  for (const Flip flip : {Flip::none, Flip::vertical, Flip::horizontal})
    for (int quarters = 0; quarters < 4; ++quarters)
      all.push_back({flip, static_cast<Rotation>(quarters)});
  return all;
}

// `image` as a file with `orientation` stores it: the inverse, pixel by pixel.
class Upright : public GeometryTest {
 protected:
  Tensor stored_as(Orientation orientation, const Tensor& image) {
    Convert c{.src = image};
    const Orientation back = inverse(orientation);
    c.flip = back.flip;
    c.rotation = back.rotation;
    c.dst = Tensor::create_image(oriented(image.size(), back), *image.format()).value();
    placed(c);
    c.dst.set_orientation(orientation);
    return c.dst;
  }
};

TEST_F(Upright, every_step_works_on_the_image_that_its_source_shows) {
  const Tensor image = random_image(random_, 34, 22, F::grey);
  const std::vector<void (*)(Convert&)> steps = {[](Convert&) {},
                                                 [](Convert& c) { c.fit = Fit::letterbox; },
                                                 [](Convert& c) { c.crop = part; },
                                                 [](Convert& c) { c.fit = Fit::cover; },
                                                 [](Convert& c) {
                                                   c.flip = Flip::horizontal;
                                                   c.rotation = Rotation::cw90;
                                                   c.crop = part;
                                                   c.fit = Fit::letterbox;
                                                   c.letterbox = LetterboxRule::ultralytics;
                                                 },
                                                 [](Convert& c) {
                                                   c.affine = slanted;
                                                   c.crop = part;
                                                 }};
  for (const Orientation orientation : every_orientation()) {
    const Tensor stored = stored_as(orientation, image);
    ASSERT_EQ(stored.upright_size(), image.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Convert c{
          .src = image, .dst = random_image(random_, 16, 16, F::grey), .filter = Filter::nearest};
      steps[i](c);
      const Placement want = placed(c);
      const auto pixels = bytes_of(c.dst);
      c.src = stored;
      const Placement p = placed(c);
      EXPECT_EQ(bytes_of(c.dst), pixels) << "step " << i;
      EXPECT_EQ(p.source(), image.size());
      EXPECT_EQ(p.crop(), want.crop());
      EXPECT_EQ(p.forward(), want.forward()) << "step " << i;
      // An orientation in the request has the same effect, and takes precedence.
      c.src.set_orientation({});
      c.orientation = orientation;
      placed(c);
      EXPECT_EQ(bytes_of(c.dst), pixels) << "step " << i;
      c.src.set_orientation({Flip::vertical, Rotation::cw90});
      placed(c);
      EXPECT_EQ(bytes_of(c.dst), pixels) << "step " << i;
    }
  }
}

TEST_F(Upright, pixels_stay_as_stored_where_the_request_says_so) {
  Convert c = request({6, 4}, {6, 4});
  c.src.set_orientation({Flip::none, Rotation::cw90});
  c.orientation = Orientation{};
  EXPECT_EQ(placed(c).source(), (Size{6, 4}));
  for (const auto [y, x] : grid(4, 6))
    ASSERT_EQ(code_at(c.dst, 0, x, y), code_at(c.src, 0, x, y));
}

TEST_F(Upright, tiles_and_masks_lie_in_the_upright_image) {
  const Tensor image = random_image(random_, 34, 22, F::grey);
  const Tensor stored = stored_as({Flip::horizontal, Rotation::cw90}, image);
  const auto tiles = plan_tiles(stored.upright_size(), {{16, 16}, 0.0}).value();
  const auto batch = [&] {
    return Tensor::create_image_batch(tiles.size(), 16, 16, F::grey).value();
  };
  const Tensor one = batch(), other = batch();
  ASSERT_TRUE(processor_.convert_tiles(image, tiles, one, {}));
  ASSERT_VALUE(const auto placed_tiles, processor_.convert_tiles(stored, tiles, other, {}));
  EXPECT_EQ(bytes_of(one), bytes_of(other));
  EXPECT_EQ(placed_tiles.back().crop(), RegionF(tiles.back().region));

  const Tensor mask = Tensor::create_image(Size{34, 22}, F::grey).value();
  ASSERT_TRUE(
      processor_.mask_to_source(placed_tiles.back(), other.batch(tiles.size() - 1).value(), mask));
  const Region& last = tiles.back().region;
  EXPECT_EQ(code_at(mask, 0, last.x, last.y), code_at(image, 0, last.x, last.y));
}

TEST_F(Upright, a_destination_that_carries_an_orientation_is_refused) {
  Convert c = request({6, 4}, {6, 4});
  const auto before = bytes_of(c.dst);
  c.dst.set_orientation({Flip::none, Rotation::cw90});
  EXPECT_FAILS(processor_.convert(c), Errc::invalid_argument, "dst: carries an orientation");
  EXPECT_EQ(bytes_of(c.dst), before);
  c.dst.set_orientation({});
  c.src.set_orientation({static_cast<Flip>(7), Rotation::none});
  EXPECT_FALSE(processor_.convert(c));
}

TEST_F(GeometryTest, crops_between_pixels_shift_the_samples) {
  Convert c = request({32, 8}, {16, 8});
  c.crop = RegionF{4.5, 0, 16, 8};
  const Placement p = placed(c);
  EXPECT_EQ(p.crop(), (RegionF{4.5, 0, 16, 8}));
  EXPECT_FLOAT_EQ(p.to_source(Point{0.5F, 0.5F}).x, 5);
  for (int x = 0; x < 16; ++x) {
    const int sum = code_at(c.src, 0, 4 + x, 3) + code_at(c.src, 0, 5 + x, 3);
    EXPECT_NEAR(code_at(c.dst, 0, x, 3), sum / 2.0, 1);
  }
}

TEST_F(GeometryTest, a_mask_comes_back_exactly_under_every_orientation) {
  for (const Flip flip : {Flip::none, Flip::vertical, Flip::horizontal}) {
    for (int orientation = 0; orientation < 4; ++orientation) {
      const auto rotation = static_cast<Rotation>(orientation);
      const Size content = swaps_axes(rotation) ? Size{7, 11} : Size{11, 7};
      Convert c = request({20, 15}, {24, 19});
      c.crop = Region{4, 5, 11, 7};
      c.place = Region{6, 3, content.width, content.height};
      c.flip = flip;
      c.rotation = rotation;
      const Placement p = placed(c);
      const Tensor back = random_image(random_, 20, 15, F::grey);
      ASSERT_OK(processor_.mask_to_source(p, c.dst, back));
      for (const auto [y, x] : grid(15, 20)) {
        const bool shown = x >= 4 && x < 15 && y >= 5 && y < 12;
        ASSERT_EQ(code_at(back, 0, x, y), shown ? code_at(c.src, 0, x, y) : 0)
            << static_cast<int>(flip) << orientation << " at " << x << "," << y;
      }
      const Tensor there = random_image(random_, 24, 19, F::grey);
      ASSERT_TRUE(processor_.mask_to_destination(p, c.src, there));
      for (const auto [y, x] : grid(19, 24)) {
        const bool shown = x >= 6 && x < 6 + content.width && y >= 3 && y < 3 + content.height;
        ASSERT_EQ(code_at(there, 0, x, y), shown ? code_at(c.dst, 0, x, y) : 0);
      }
    }
  }
}

TEST_F(GeometryTest, a_letterboxed_mask_covers_the_image_under_every_rule) {
  for (const LetterboxRule rule :
       {LetterboxRule::hal, LetterboxRule::ultralytics, LetterboxRule::ultralytics_val}) {
    Convert c = request({53, 31}, {32, 32});
    c.fit = Fit::letterbox;
    c.letterbox = rule;
    const Placement p = placed(c);
    const Tensor mask = zero_image(32, 32, F::grey);
    for (const auto [y, x] : grid(32, 32)) {
      const Region& r = p.content();
      const bool inside = x >= r.x && x < r.x + r.width && y >= r.y && y < r.y + r.height;
      set_code(mask, 0, x, y, inside ? 255 : 7);
    }
    const Tensor back = random_image(random_, 53, 31, F::grey);
    ASSERT_TRUE(processor_.mask_to_source(p, mask, back));
    for (const auto& [x, y] : {std::pair{0, 0}, std::pair{52, 30}, std::pair{52, 0}})
      EXPECT_EQ(code_at(back, 0, x, y), 255) << static_cast<int>(rule);
  }
}

TEST_F(GeometryTest, masks_follow_a_crop_between_pixels_and_a_free_map) {
  Convert c = request({40, 20}, {20, 20});
  c.fit = Fit::cover;
  c.crop = RegionF{0, 0, 39, 20};
  const Placement covered = placed(c);
  EXPECT_EQ(covered.crop(), (RegionF{9.5, 0, 20, 20}));
  const Tensor mask = zero_image(20, 20, F::grey);
  for (int i = 0; i < 400; ++i)
    set_code(mask, 0, i % 20, i / 20, 200);
  const Tensor back = random_image(random_, 40, 20, F::grey);
  ASSERT_OK(processor_.mask_to_source(covered, mask, back));
  for (int x = 10; x < 29; ++x)
    EXPECT_EQ(code_at(back, 0, x, 7), 200) << x;
  EXPECT_EQ(code_at(back, 0, 8, 7), 0);
  EXPECT_EQ(code_at(back, 0, 30, 7), 0);

  // Shifted by (3, -2): an affine map that moves whole pixels.
  const Affine shift{{1, 0, 3, 0, 1, -2}};
  const Placement free({40, 20}, Region{0, 0, 40, 20}, shift, {20, 20}, {0, 0, 20, 20});
  const Tensor source = random_image(random_, 40, 20, F::grey);
  const Tensor there = random_image(random_, 20, 20, F::grey);
  ASSERT_TRUE(processor_.mask_to_destination(free, source, there));
  ASSERT_TRUE(processor_.mask_to_source(free, there, back));
  for (const auto [y, x] : grid(20, 40)) {
    const bool shown = x < 17 && y >= 2;
    ASSERT_EQ(code_at(back, 0, x, y), shown ? code_at(source, 0, x, y) : 0) << x << "," << y;
  }
}

TEST_F(GeometryTest, masks_of_another_size_or_kind_are_refused_by_name) {
  const Placement p({20, 15}, Region{0, 0, 20, 15}, Orientation{}, {24, 19}, {0, 0, 24, 19});
  const Tensor source = zero_image(20, 15, F::grey);
  const Tensor network = zero_image(24, 19, F::grey);
  const Tensor colour = zero_image(20, 15, F::rgb);
  const auto expect_named = [](const Status& status, const char* field) {
    EXPECT_FAILS(status, Errc::invalid_argument);
    EXPECT_EQ(status.error().message().find(field), 0U) << status.error().message();
  };
  EXPECT_TRUE(processor_.mask_to_source(p, network, source));
  expect_named(processor_.mask_to_source(p, source, source), "mask:");
  expect_named(processor_.mask_to_source(p, network, network), "out:");
  expect_named(processor_.mask_to_destination(p, network, network), "mask:");
  expect_named(processor_.mask_to_destination(p, source, source), "out:");
  expect_named(processor_.mask_to_source(p, network, colour), "out:");
  expect_named(processor_.mask_to_source(Placement(), network, source), "mask:");
}

}  // namespace
}  // namespace halyard::test
