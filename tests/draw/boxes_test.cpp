// SPDX-License-Identifier: Apache-2.0
// Fills, outlines, dashes and trails on images of known content, with guarded surroundings.
#include "draw/boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "draw/canvas.h"
#include "draw/polyline.h"
#include "support/product.h"

namespace halyard::draw {
namespace {

const Ink red{{255, 0, 0, 0}, 255};

constexpr std::uint8_t canary = 0xA5;

// A canvas inside a larger block: 8 guard rows above and below, 8 guard bytes beside each row.
struct Guarded {
  static constexpr int guard = 8;
  int width, height, channels;
  std::vector<std::uint8_t> block;
  Guarded(int w, int h, int c)
      : width(w),
        height(h),
        channels(c),
        block(static_cast<std::size_t>((w * c + 2 * guard) * (h + 2 * guard)), canary) {
    for (int y = 0; y < h; ++y)
      for (int i = 0; i < w * c; ++i)
        block[index(i, y)] = 0;
  }
  std::size_t index(int byte, int y) const {
    return static_cast<std::size_t>((y + guard) * (width * channels + 2 * guard) + guard + byte);
  }
  Canvas canvas() {
    const PixelRows rows{block.data() + index(0, 0), width * channels + 2 * guard};
    return {channels == 3 ? PixelFormat::rgb : PixelFormat::rgba, {width, height}, {}, {rows}};
  }
  bool is_set(int x, int y) const { return block[index(x * channels, y)] == 255; }
  int count() const {
    int n = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        n += is_set(x, y) ? 1 : 0;
    return n;
  }
  bool is_guard_whole() const {
    for (int y = -guard; y < height + guard; ++y)
      for (int i = -guard; i < width * channels + guard; ++i) {
        const bool inside = y >= 0 && y < height && i >= 0 && i < width * channels;
        if (!inside && block[index(i, y)] != canary) return false;
      }
    return true;
  }
};

class Clipping : public testing::TestWithParam<std::tuple<int, Rect>> {};

TEST_P(Clipping, of_a_fill_is_exact_on_all_sides) {
  const auto [channels, rect] = GetParam();
  Guarded g(20, 12, channels);
  g.canvas().fill(rect, red);
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 20; ++x)
      EXPECT_EQ(g.is_set(x, y), x >= rect.x0 && x < rect.x1 && y >= rect.y0 && y < rect.y1);
  EXPECT_TRUE(g.is_guard_whole());
}

TEST_P(Clipping, of_an_outline_equals_the_same_outline_cut_from_a_larger_canvas) {
  const auto [channels, rect] = GetParam();
  constexpr int shift = 40;
  Guarded small(20, 12, channels);
  Guarded large(120, 120, channels);
  CornerCache corners;
  const Rect moved{rect.x0 + shift, rect.y0 + shift, rect.x1 + shift, rect.y1 + shift};
  for (int radius : {0, 3}) {
    stroke_box(small.canvas(), rect, 2, radius, red, corners);
    stroke_box(large.canvas(), moved, 2, radius, red, corners);
  }
  stroke_dashed(small.canvas(), rect, 1, 3, red);
  stroke_dashed(large.canvas(), moved, 1, 3, red);
  for (int y = 0; y < 12; ++y)
    for (int i = 0; i < 20 * channels; ++i)
      ASSERT_EQ(small.block[small.index(i, y)],
                large.block[large.index(i + shift * channels, y + shift)])
          << i << " " << y;
  EXPECT_TRUE(small.is_guard_whole());
  EXPECT_TRUE(large.is_guard_whole());
}

// Of the centre of pixel (x, y) from the line through `points`.
double distance(const std::vector<Point>& points, int x, int y) {
  double minimum = 1e9;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point& a = points[i - 1];
    const double dx = points[i].x - a.x;
    const double dy = points[i].y - a.y;
    const double length2 = dx * dx + dy * dy;
    const double along = (x + 0.5 - a.x) * dx + (y + 0.5 - a.y) * dy;
    const double t = length2 > 0 ? std::clamp(along / length2, 0.0, 1.0) : 0;
    minimum = std::min(minimum, std::hypot(x + 0.5 - a.x - t * dx, y + 0.5 - a.y - t * dy));
  }
  return minimum;
}

TEST_P(Clipping, of_a_trail_leaves_all_that_lies_on_the_canvas_and_nothing_else) {
  const auto [channels, rect] = GetParam();
  const std::vector<Point> points{{static_cast<float>(rect.x0), static_cast<float>(rect.y0)},
                                  {static_cast<float>(rect.x1), static_cast<float>(rect.y1)},
                                  {static_cast<float>(rect.x0), static_cast<float>(rect.y1)}};
  for (const auto& [width, height] : {std::pair{20, 12}, std::pair{12, 36}}) {
    Guarded g(width, height, channels);
    fading_polyline(g.canvas(), points, 5, red);
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        const double away = distance(points, x, y);
        const auto value = g.block[g.index(x * channels, y)];
        const bool may_be_either = away >= 2.5 && away <= 3.01;  // the soft edge
        EXPECT_TRUE(may_be_either || (value > 0) == (away < 2.5))
            << x << " " << y << " of " << height << ": " << int{value};
      }
    EXPECT_TRUE(g.is_guard_whole());
  }
}

INSTANTIATE_TEST_SUITE_P(
    all, Clipping,
    testing::Combine(testing::Values(3, 4),
                     testing::Values(Rect{4, 3, 9, 8}, Rect{-7, 3, 9, 8}, Rect{12, 3, 30, 8},
                                     Rect{4, -9, 9, 5}, Rect{4, 6, 9, 40}, Rect{-5, -5, 30, 20},
                                     Rect{-20, -20, -10, -10}, Rect{30, 30, 35, 35},
                                     Rect{0, 0, 20, 12}, Rect{5, 5, 5, 9}, Rect{19, 11, 25, 15})));

TEST(Shapes, square_outline_has_exactly_its_pixels_also_where_its_sides_meet) {
  for (const auto [width, height] : test::grid<int>(13, 13)) {
    Guarded g(20, 16, 3), faint(20, 16, 3);
    CornerCache corners;
    stroke_box(g.canvas(), {3, 2, 3 + width, 2 + height}, 2, 0, red, corners);
    stroke_box(faint.canvas(), {3, 2, 3 + width, 2 + height}, 2, 0, {red.bytes, 100}, corners);
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 20; ++x) {
        const bool outer = x >= 3 && x < 3 + width && y >= 2 && y < 2 + height;
        const bool inner = x >= 5 && x < 1 + width && y >= 4 && y < height;
        EXPECT_EQ(g.is_set(x, y), outer && !inner)
            << x << " " << y << " of " << width << "x" << height;
        EXPECT_EQ(faint.block[faint.index(3 * x, y)], outer && !inner ? 100 : 0) << "blended once";
      }
  }
}

TEST(Shapes, rounded_corners_are_symmetric_and_partly_covered) {
  Guarded g(24, 24, 3);
  CornerCache corners;
  stroke_box(g.canvas(), {2, 2, 22, 22}, 2, 6, red, corners);
  int partial = 0;
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 24; ++x) {
      const auto value = g.block[g.index(x * 3, y)];
      EXPECT_EQ(value, g.block[g.index((23 - x) * 3, y)]);
      EXPECT_EQ(value, g.block[g.index(x * 3, 23 - y)]);
      partial += value > 0 && value < 255 ? 1 : 0;
    }
  EXPECT_GT(partial, 8);
  EXPECT_FALSE(g.is_set(2, 2));
}

// The part of pixel (x, y) between the circles about (radius, radius), by 32 x 32 points.
double ring_part(int x, int y, int inner, int radius) {
  int hits = 0;
  for (int i = 0; i < 32 * 32; ++i) {
    const double d = std::hypot(radius - x - (i % 32 + 0.5) / 32, radius - y - (i / 32 + 0.5) / 32);
    hits += d >= inner && d < radius ? 1 : 0;
  }
  return hits / 1024.0;
}

TEST(Shapes, rounded_outline_covers_pixels_by_their_part_of_the_ring) {
  for (const auto& [radius, line] : {std::pair{6, 2}, {6, 1}, {12, 3}, {32, 8}, {5, 4}, {4, 4}}) {
    const int size = 2 * radius + 8;
    Guarded g(size, size, 3);
    CornerCache corners;
    stroke_box(g.canvas(), {0, 0, size, size}, line, radius, red, corners);
    double area = 0;
    double wanted = 0;
    for (int y = 0; y < radius; ++y)
      for (int x = 0; x < radius; ++x) {
        const double part = g.block[g.index(x * 3, y)] / 255.0;
        const double exact = ring_part(x, y, radius - line, radius);
        EXPECT_NEAR(part, exact, 0.06) << radius << " " << line << " at " << x << " " << y;
        area += part;
        wanted += exact;
      }
    EXPECT_NEAR(area, wanted, 0.02 * wanted) << radius << " " << line;
  }
}

TEST(Shapes, filled_corner_has_the_area_of_a_quarter_disc) {
  Guarded g(64, 64, 3);
  CornerCache corners;
  fill_round(g.canvas(), {0, 0, 64, 64}, 32, true, red, corners);
  double area = 0;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x)
      area += g.block[g.index(x * 3, y)] / 255.0;
  EXPECT_NEAR(area, 3.14159265 * 32 * 32, 0.002 * 3.14159265 * 32 * 32);
}

TEST(Shapes, sides_between_round_corners_are_whole_lines) {
  constexpr int radius = 6, line = 2;
  for (const auto& [x0, y0, side] : test::product({10, 11}, {10, 11}, {30, 31})) {
    Guarded g(60, 60, 3);
    CornerCache corners;
    const int x1 = x0 + side, y1 = y0 + side;
    stroke_box(g.canvas(), {x0, y0, x1, y1}, line, radius, red, corners);
    for (int i = radius; i < side - radius; ++i)
      for (int depth = -1; depth <= line; ++depth) {
        const bool is_on = depth >= 0 && depth < line;
        EXPECT_EQ(g.is_set(x0 + depth, y0 + i), is_on) << x0 << " " << i << " " << depth;
        EXPECT_EQ(g.is_set(x1 - 1 - depth, y0 + i), is_on) << x0 << " " << i << " " << depth;
        EXPECT_EQ(g.is_set(x0 + i, y0 + depth), is_on) << y0 << " " << i << " " << depth;
        EXPECT_EQ(g.is_set(x0 + i, y1 - 1 - depth), is_on) << y0 << " " << i << " " << depth;
      }
  }
}

TEST(Shapes, trail_of_a_still_object_is_a_dot) {
  Guarded g(20, 12, 3);
  const std::vector<Point> points{{8, 6}, {8, 6}, {8, 6}};
  fading_polyline(g.canvas(), points, 4, red);
  EXPECT_TRUE(g.is_set(8, 6));
  EXPECT_TRUE(g.is_set(7, 5));
  EXPECT_FALSE(g.is_set(12, 6));
}

TEST(Shapes, too_small_box_is_filled_and_a_large_radius_is_cut) {
  Guarded g(20, 20, 3);
  CornerCache corners;
  stroke_box(g.canvas(), {5, 5, 8, 8}, 2, 0, red, corners);
  EXPECT_EQ(g.count(), 9);
  stroke_box(g.canvas(), {10, 10, 16, 16}, 1, 50, red, corners);
  EXPECT_TRUE(g.is_guard_whole());
}

TEST(Shapes, dashes_cover_about_half_of_the_outline) {
  Guarded whole(60, 60, 3);
  Guarded dashed(60, 60, 3);
  CornerCache corners;
  stroke_box(whole.canvas(), {2, 2, 58, 58}, 1, 0, red, corners);
  stroke_dashed(dashed.canvas(), {2, 2, 58, 58}, 1, 4, red);
  EXPECT_NEAR(dashed.count(), whole.count() / 2, 8);
}

TEST(Shapes, blending_is_the_exact_rounded_mean) {
  for (unsigned alpha = 0; alpha < 256; ++alpha)
    for (unsigned value : {0U, 1U, 77U, 128U, 254U, 255U}) {
      std::uint8_t pixel[3] = {static_cast<std::uint8_t>(value), 0, 0};
      const auto coverage = static_cast<std::uint8_t>(alpha);
      const Canvas canvas(PixelFormat::rgb, {1, 1}, {}, {PixelRows{pixel, 3}});
      canvas.blend_coverage(0, 0, {&coverage, 1, 1, 1}, {{200, 0, 0, 0}, 255});
      EXPECT_EQ(pixel[0], std::lround((200.0 * alpha + value * (255.0 - alpha)) / 255.0));
    }
}

TEST(Shapes, trail_fades_towards_its_oldest_end) {
  Guarded g(200, 20, 3);
  std::vector<Point> points;
  for (int i = 0; i < 19; ++i)
    points.push_back({10.0F + 10.0F * static_cast<float>(i), 10});
  fading_polyline(g.canvas(), points, 3, red);
  int last = 0;
  for (int x = 16; x < 190; x += 10) {
    const int value = g.block[g.index(x * 3, 10)];
    EXPECT_GT(value, last) << x;
    last = value;
  }
  EXPECT_GE(last, 250);
}

TEST(Shapes, a_long_segment_of_a_trail_fades_evenly) {
  Guarded g(220, 20, 3);
  const std::vector<Point> points{{10, 10}, {210, 10}};
  fading_polyline(g.canvas(), points, 5, red);
  // From half to all of the ink, in nine pieces; a piece has the opacity of its end.
  for (int x = 20; x < 200; ++x) {
    const double even = 255 * (0.5 + 0.5 * (x - 10) / 200.0);
    EXPECT_GE(g.block[g.index(x * 3, 10)], even - 1) << x;
    EXPECT_LE(g.block[g.index(x * 3, 10)], even + 127.5 / 9 + 1) << x;
  }
}

TEST(Shapes, trail_joints_show_no_dots) {
  Guarded g(100, 40, 3);
  const std::vector<Point> points{{10, 20}, {30, 20}, {50, 20}, {70, 20}, {90, 20}};
  fading_polyline(g.canvas(), points, 4, {red.bytes, 128});
  for (int x = 11; x < 89; ++x) {
    // Never brighter than a little above the pixel before: a doubly blended joint would be.
    EXPECT_LE(g.block[g.index((x + 1) * 3, 20)], g.block[g.index(x * 3, 20)] + 26) << x;
    EXPECT_LE(g.block[g.index(x * 3, 20)], 128);
  }
}

TEST(Shapes, trail_survives_points_that_are_no_numbers) {
  Guarded g(20, 12, 4);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<Point> points{{nan, 1}, {2, 2},    {inf, 3},   {4, 4},
                                  {8, 4},   {8, -inf}, {3e30F, 2}, {9, 9}};
  fading_polyline(g.canvas(), points, 2, red);
  EXPECT_GT(g.block[g.index(6 * 4, 4)], 0);  // the one whole segment is there
  EXPECT_TRUE(g.is_guard_whole());
}

}  // namespace
}  // namespace halyard::draw
