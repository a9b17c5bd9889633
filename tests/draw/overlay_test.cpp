// SPDX-License-Identifier: Apache-2.0
// Overlay on whole images: pixels at known places, tags, tracks, refusals.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "draw/pixels.h"
#include "halyard/draw.h"
#include "support/result.h"

namespace halyard {
namespace {

using test::background_color;
using test::bytes_of;
using test::Pixels;
using test::plain_image;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class Drawing : public testing::Test {
 protected:
  void SetUp() override {
    auto probe = Overlay::create();
    if (!probe) GTEST_SKIP() << probe.error().message();
  }
  static Overlay overlay(int line_px = 2, int text_px = 12) {
    OverlayOptions options;
    options.labels = {"boat", "buoy"};
    options.line_px = line_px;
    options.text_px = text_px;
    return *Overlay::create(options);
  }
};

TEST_F(Drawing, box_has_its_line_astride_its_edge) {
  auto o = overlay(2);
  Tensor image = plain_image(120, 100);
  const Detection d{{30, 40, 90, 80}, 0.5F, 1, -1};
  ASSERT_TRUE(o.draw(image, {&d, 1}));
  const Pixels p(image);
  const Color color = palette_color(1);
  for (int y = 48; y < 72; ++y) {  // clear of corners and tag
    EXPECT_EQ(p(28, y), background_color);
    EXPECT_EQ(p(29, y), color);
    EXPECT_EQ(p(30, y), color);
    EXPECT_EQ(p(31, y), background_color);
    EXPECT_EQ(p(88, y), background_color);
    EXPECT_EQ(p(89, y), color);
    EXPECT_EQ(p(90, y), color);
    EXPECT_EQ(p(91, y), background_color);
  }
  for (int x = 38; x < 82; ++x) {
    EXPECT_EQ(p(x, 78), background_color);
    EXPECT_EQ(p(x, 79), color);
    EXPECT_EQ(p(x, 80), color);
    EXPECT_EQ(p(x, 81), background_color);
  }
  EXPECT_EQ(p(60, 60), background_color);
}

TEST_F(Drawing, tag_stands_above_the_box_and_holds_text) {
  auto o = overlay(2, 16);
  Tensor image = plain_image(200, 120);
  const Detection d{{30, 60, 150, 100}, 0.87F, 0, -1};
  ASSERT_TRUE(o.draw(image, {&d, 1}));
  const Pixels p(image);
  int text = 0;
  int tag = 0;
  int elsewhere = 0;
  for (int y = 0; y < 59; ++y)
    for (int x = 0; x < 200; ++x) {
      const bool inside = x >= 29 && y >= 39 && x < 130;
      if (p(x, y) == background_color) continue;
      if (!inside) ++elsewhere;
      (p(x, y) == palette_color(0) ? tag : text) += 1;
    }
  EXPECT_EQ(elsewhere, 0);
  EXPECT_GT(tag, 700);
  EXPECT_GT(text, 200);
}

TEST_F(Drawing, capital_letters_lie_in_the_middle_of_the_tag) {
  auto o = *Overlay::create({.labels = {"HHH"}, .line_px = 2, .text_px = 30, .show_score = false});
  Tensor image = plain_image(200, 120);
  const Detection d{{30, 60, 150, 100}, 0.87F, 0, -1};
  ASSERT_OK(o.draw(image, {&d, 1}));
  const Pixels p(image);
  // The tag is 40 pixels high and ends with the line of the box, at row 61.
  std::vector<int> rows;
  for (int y = 21; y < 61; ++y)
    for (int x = 40; x < 90; ++x)
      if (p(x, y) != palette_color(0)) rows.push_back(y);
  ASSERT_GT(rows.size(), 200U);
  EXPECT_NEAR(rows.front() - 21, 60 - rows.back(), 1);
}

TEST_F(Drawing, tag_goes_below_the_top_line_when_there_is_no_room_above) {
  auto o = overlay(2, 16);
  Tensor image = plain_image(200, 120);
  const Detection d{{30, 5, 190, 100}, 0.87F, 0, -1};
  ASSERT_TRUE(o.draw(image, {&d, 1}));
  const Pixels p(image);
  EXPECT_EQ(p(60, 2), background_color);
  EXPECT_EQ(p(35, 20), palette_color(0));  // inside the box
}

TEST_F(Drawing, tag_stays_inside_at_the_right_edge) {
  auto o = overlay(2, 16);
  Tensor image = plain_image(200, 120);
  const Detection d{{190, 60, 230, 100}, 0.87F, 0, -1};
  ASSERT_TRUE(o.draw(image, {&d, 1}));
  const Pixels p(image);
  int tag = 0;
  for (int x = 0; x < 188; ++x)
    tag += p(x, 52) != background_color ? 1 : 0;
  EXPECT_GT(tag, 50);  // moved left as far as its text needs
}

TEST_F(Drawing, boxes_that_are_no_boxes_change_nothing) {
  auto o = overlay();
  Tensor image = plain_image(64, 64);
  const auto before = bytes_of(image);
  const std::vector<Detection> bad{{{nan, 1, 2, 3}, 1, 0, -1},
                                   {{1, nan, 20, 30}, 1, 0, -1},
                                   {{1, 1, inf, 30}, 1, 0, -1},
                                   {{-inf, 1, 20, 30}, 1, 0, -1},
                                   {{30, 1, 20, 30}, 1, 0, -1},
                                   {{5, 5, 5, 5}, 1, 0, -1},
                                   {{500, 500, 600, 600}, 1, 0, -1},
                                   {{-90, -90, -50, -50}, 1, 0, -1},
                                   {{1e30F, 1e30F, 2e30F, 2e30F}, 1, 0, -1}};
  ASSERT_TRUE(o.draw(image, bad));
  EXPECT_EQ(bytes_of(image), before);
}

TEST_F(Drawing, huge_box_around_the_image_shows_only_its_tag) {
  auto o = overlay();
  Tensor image = plain_image(200, 100);
  const Detection d{{-3e30F, -3e30F, 3e30F, 3e30F}, 2.0F, 0, -1};
  ASSERT_TRUE(o.draw(image, {&d, 1}));
  EXPECT_EQ(Pixels(image)(199, 99), background_color);
}

TEST_F(Drawing, odd_scores_and_labels_are_served) {
  auto o = overlay();
  Tensor image = plain_image(200, 100);
  const std::vector<Detection> odd{{{10, 40, 50, 60}, nan, -5, -1},
                                   {{60, 40, 90, 60}, -3, 2147483647, -1},
                                   {{100, 40, 150, 60}, inf, 7, -1}};
  ASSERT_TRUE(o.draw(image, odd));
  EXPECT_GT(Pixels(image).changed(), 300U);
}

TEST_F(Drawing, same_input_gives_same_pixels) {
  const std::vector<Detection> found{{{10, 20, 90, 80}, 0.9F, 0, -1},
                                     {{50, 30, 140, 95}, 0.4F, 1, -1}};
  Tensor a = plain_image(160, 100);
  Tensor b = plain_image(160, 100);
  auto first = overlay();
  auto second = overlay();
  ASSERT_TRUE(first.draw(a, found));
  ASSERT_TRUE(second.draw(b, found));
  EXPECT_EQ(bytes_of(a), bytes_of(b));
}

TEST_F(Drawing, rgba_shows_the_same_colors_and_keeps_alpha) {
  const std::vector<Track> tracks{{1, {10, 30, 90, 80}, 0.9F, 0, 0, 1, {}, {}},
                                  {2, {50, 40, 140, 95}, 0.4F, 1, -1, 1, {}, {}}};
  Tensor rgb = plain_image(160, 100);
  Tensor rgba = plain_image(160, 100, PixelFormat::rgba);
  auto first = overlay();
  auto second = overlay();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(first.draw(rgb, tracks));
    ASSERT_TRUE(second.draw(rgba, tracks));
  }
  const Pixels a(rgb);
  const Pixels b(rgba);
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 160; ++x) {
      ASSERT_EQ(a(x, y), b(x, y));
      ASSERT_EQ(b.alpha(x, y), test::background);
    }
}

TEST_F(Drawing, region_of_an_image_is_drawn_as_an_image_and_nothing_else_changes) {
  for (PixelFormat format : {PixelFormat::rgb, PixelFormat::rgba}) {
    Tensor whole = plain_image(200, 150, format);
    Tensor part = *whole.slice({37, 21, 101, 83});
    Tensor alone = plain_image(101, 83, format);
    const std::vector<Detection> found{{{-10, 20, 90, 120}, 0.9F, 0, -1},
                                       {{50, -30, 140, 50}, 0.4F, 1, -1}};
    auto o = overlay();
    ASSERT_TRUE(o.draw(part, found));
    ASSERT_TRUE(o.draw(alone, found));
    EXPECT_EQ(bytes_of(part), bytes_of(alone));
    const Pixels p(whole);
    for (int y = 0; y < 150; ++y)
      for (int x = 0; x < 200; ++x)
        if (x < 37 || x >= 138 || y < 21 || y >= 104) {
          ASSERT_EQ(p(x, y), background_color);
        }
  }
}

TEST_F(Drawing, one_pixel_image_is_served) {
  for (PixelFormat format : {PixelFormat::rgb, PixelFormat::rgba}) {
    Tensor image = plain_image(1, 1, format);
    auto o = *Overlay::create();
    const Detection d{{-5, -5, 5, 5}, 0.5F, 0, -1};
    const Track t{1, {-5, -5, 5, 5}, 0.5F, 0, -1, 1, {}, {}};
    EXPECT_TRUE(o.draw(image, {&d, 1}));
    EXPECT_TRUE(o.draw(image, {&t, 1}));
    EXPECT_TRUE(o.text(image, 0, 0, "x", {1, 2, 3}));
  }
}

TEST_F(Drawing, coasting_track_is_thinner_than_a_seen_one) {
  OverlayOptions options;
  options.line_px = 4;
  options.trail_length = 0;
  auto o = *Overlay::create(options);
  Track track{1, {20, 60, 180, 180}, 0.9F, 0, 0, 1, {}, {}};
  Tensor seen = plain_image(200, 200);
  Tensor coasting = plain_image(200, 200);
  ASSERT_TRUE(o.draw(seen, {&track, 1}));
  track.detection = -1;
  ASSERT_TRUE(o.draw(coasting, {&track, 1}));
  const Pixels a(seen);
  const Pixels b(coasting);
  int solid = 0;
  int dashed = 0;
  for (int y = 100; y < 170; ++y)
    for (int x = 0; x < 60; ++x) {
      solid += a(x, y) != background_color ? 1 : 0;
      dashed += b(x, y) != background_color ? 1 : 0;
    }
  EXPECT_EQ(solid, 4 * 70);
  EXPECT_LT(dashed, solid / 2);
  EXPECT_GT(dashed, solid / 8);
}

TEST_F(Drawing, trail_follows_a_track_and_ends_with_it) {
  OverlayOptions options;
  options.line_px = 2;
  auto o = *Overlay::create(options);
  Tensor scratch = plain_image(400, 100);
  Track track{9, {0, 40, 20, 60}, 0.9F, 0, 0, 1, {}, {}};
  for (float x : {0.0F, 100.0F, 200.0F}) {
    track.box.x1 = x;
    track.box.x2 = x + 20;
    scratch = plain_image(400, 100);
    ASSERT_TRUE(o.draw(scratch, {&track, 1}));
  }
  EXPECT_NE(Pixels(scratch)(160, 50), background_color);
  ASSERT_TRUE(o.draw(scratch, std::span<const Track>{}));  // the track is gone
  track.box = {300, 40, 320, 60};
  scratch = plain_image(400, 100);
  ASSERT_TRUE(o.draw(scratch, {&track, 1}));
  EXPECT_EQ(Pixels(scratch)(260, 50), background_color);
}

TEST_F(Drawing, colors_follow_the_track_when_asked) {
  OverlayOptions options;
  options.color_by = ColorBy::track;
  options.line_px = 2;
  auto o = *Overlay::create(options);
  Tensor image = plain_image(100, 100);
  const Track track{5, {20, 50, 80, 90}, 0.9F, 0, 0, 1, {}, {}};
  ASSERT_TRUE(o.draw(image, {&track, 1}));
  EXPECT_EQ(Pixels(image)(20, 70), palette_color(5));
}

TEST_F(Drawing, colors_follow_the_place_in_the_list_when_asked) {
  OverlayOptions options;
  options.color_by = ColorBy::instance;
  options.line_px = 2;
  auto o = *Overlay::create(options);
  Tensor image = plain_image(100, 100), other = plain_image(100, 100);
  const Track tracks[] = {{5, {20, 50, 40, 90}, 0.9F, 7, 0, 1, {}, {}},
                          {6, {60, 50, 80, 90}, 0.9F, 7, 1, 1, {}, {}}};
  const Detection found[] = {{{20, 50, 40, 90}, 0.9F, 7}, {{60, 50, 80, 90}, 0.9F, 7}};
  ASSERT_TRUE(o.draw(image, tracks));
  ASSERT_TRUE(o.draw(other, found));
  for (const Tensor& each : {image, other}) {
    EXPECT_EQ(Pixels(each)(20, 70), palette_color(0));
    EXPECT_EQ(Pixels(each)(60, 70), palette_color(1));
  }
}

TEST_F(Drawing, text_is_clipped_where_it_leaves_the_image) {
  auto o = overlay(2, 20);
  Tensor image = plain_image(100, 60);
  const Color blue{0, 0, 160};
  ASSERT_TRUE(o.text(image, 10, 10, "harbour", blue));
  EXPECT_EQ(Pixels(image)(12, 20), blue);
  for (const auto& [x, y] : {std::pair{-2147483647 - 1, 5},
                             {2147483647, 5},
                             {5, 2147483647},
                             {5, -2147483647 - 1},
                             {90, 50},
                             {-30, -10}}) {
    EXPECT_TRUE(o.text(image, x, y, "a long line of text that never fits", blue));
  }
}

TEST_F(Drawing, options_outside_their_range_are_refused) {
  const auto code = [](auto change) {
    OverlayOptions options;
    change(options);
    auto o = Overlay::create(options);
    return o ? Errc::ok : o.error().code;
  };
  EXPECT_EQ(code([](auto& o) { o.line_px = -1; }), Errc::invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.line_px = 257; }), Errc::invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.text_px = 5; }), Errc::invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.text_px = 513; }), Errc::invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.trail_length = 10001; }), Errc::invalid_argument);
  EXPECT_EQ(code([](auto& o) { o.font = "/nowhere/x.ttf"; }), Errc::not_found);
  EXPECT_EQ(code([](auto&) {}), Errc::ok);
  EXPECT_EQ(code([](auto& o) { o.line_px = 0, o.text_px = 0; }), Errc::ok);
}

TEST_F(Drawing, other_formats_and_dtypes_are_unsupported) {
  auto o = overlay();
  const Detection d{{1, 1, 5, 5}, 0.5F, 0, -1};
  std::vector<Tensor> images{*Tensor::create_image(16, 16, PixelFormat::yuyv),
                             *Tensor::create_image(16, 16, PixelFormat::nv16),
                             *Tensor::create_image(16, 16, PixelFormat::rgb, DType::f32),
                             *Tensor::create(DType::u8, {16, 16, 3}), Tensor()};
  for (Tensor& image : images) {
    const Status status = o.draw(image, {&d, 1});
    EXPECT_FAILS(status, Errc::unsupported);
  }
}

TEST_F(Drawing, outlines_and_points_have_exactly_their_pixels) {
  auto o = overlay();
  Tensor image = plain_image(40, 30);
  const std::array<Point, 4> quad{{{10.5F, 8.5F}, {20.5F, 8.5F}, {20.5F, 18.5F}, {10.5F, 18.5F}}};
  const Color red{255, 0, 0}, blue{0, 0, 255};
  ASSERT_TRUE(o.outlines(image, {&quad, 1}, {&red, 1}, 1));
  const Point point{30.9F, 10.2F};
  ASSERT_TRUE(o.points(image, {&point, 1}, {&blue, 1}));
  const Pixels p(image);
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      const bool inside = x >= 10 && x <= 20 && y >= 8 && y <= 18;
      const bool is_edge = inside && (x == 10 || x == 20 || y == 8 || y == 18);
      const bool is_point = x >= 28 && x < 33 && y >= 8 && y < 13;
      EXPECT_EQ(p(x, y), is_edge ? red : is_point ? blue : background_color) << x << ", " << y;
    }
}

TEST_F(Drawing, outlines_and_points_that_are_not_finite_change_nothing) {
  auto o = overlay();
  Tensor image = plain_image(40, 30);
  const auto before = bytes_of(image);
  const std::array<Point, 4> quads[] = {
      {{{nan, 1}, {2, 2}, {3, 3}, {4, 4}}},
      {{{1e30F, 1e30F}, {2e30F, 1e30F}, {1e30F, 2e30F}, {3e30F, 3e30F}}}};
  const Color colors[] = {{1, 2, 3}, {4, 5, 6}};
  const Point points[] = {{inf, 3}, {-1e30F, 5}};
  ASSERT_TRUE(o.outlines(image, quads, colors));
  ASSERT_TRUE(o.points(image, points, colors));
  EXPECT_EQ(bytes_of(image), before);
  EXPECT_FAILS(o.outlines(image, quads, {colors, 1}), Errc::invalid_argument, "colors");
  EXPECT_FAILS(o.points(image, {points, 1}, colors), Errc::invalid_argument, "colors");
  EXPECT_FAILS(o.outlines(image, quads, colors, 0), Errc::invalid_argument, "line_px");
  EXPECT_FAILS(o.outlines(image, quads, colors, 257), Errc::invalid_argument, "line_px");
}

TEST_F(Drawing, an_image_that_carries_an_orientation_is_refused) {
  auto o = overlay();
  Tensor image = plain_image(64, 64);
  const auto before = bytes_of(image);
  image.set_orientation({Flip::none, Rotation::cw90});
  const Detection d{{3, 4, 30, 40}, 0.5F, 1, -1};
  const Status drawn = o.draw(image, {&d, 1});
  EXPECT_FAILS(drawn, Errc::invalid_argument, "carries an orientation");
  EXPECT_EQ(bytes_of(image), before);
}

TEST_F(Drawing, read_only_memory_is_refused) {
  static const std::vector<std::uint8_t> bytes(16 * 16 * 3, 7);
  auto buffer = *wrap_memory(static_cast<const void*>(bytes.data()), bytes.size(), {});
  const Tensor::PlaneSource plane{buffer, 0, 0};
  Tensor image = *Tensor::wrap_image({&plane, 1}, 16, 16, PixelFormat::rgb);
  auto o = overlay();
  const Status status = o.text(image, 0, 0, "x", {0, 0, 0});
  EXPECT_FAILS(status, Errc::permission);
}

}  // namespace
}  // namespace halyard
