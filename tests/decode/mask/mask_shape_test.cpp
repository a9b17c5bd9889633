// SPDX-License-Identifier: Apache-2.0
// Run lengths and outlines of masks: by hand, back and forth, and the laws of set operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "halyard/polygon.h"
#include "halyard/rle.h"
#include "support/result.h"

namespace halyard {
namespace {

using Bytes = std::vector<std::uint8_t>;

MaskView view_of(const Bytes& bytes, Region region) {
  return {region, bytes.data(), static_cast<std::size_t>(region.width)};
}

// Of '.' and '#', rows one after the other.
Bytes bytes_of(std::string_view rows) {
  Bytes out;
  for (const char c : rows)
    out.push_back(c == '#' ? 255 : 0);
  return out;
}

// Blobs: noise, smoothed a few times.
Bytes random_mask(std::mt19937& random, int width, int height, int rounds) {
  Bytes out(static_cast<std::size_t>(width * height));
  for (auto& b : out)
    b = random() % 2 != 0 ? 255 : 0;
  for (int round = 0; round < rounds; ++round) {
    const Bytes before = out;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        int sum = 0, count = 0;
        for (int v = std::max(0, y - 1); v <= std::min(height - 1, y + 1); ++v) {
          for (int u = std::max(0, x - 1); u <= std::min(width - 1, x + 1); ++u, ++count)
            sum += before[static_cast<std::size_t>(v * width + u)] != 0;
        }
        out[static_cast<std::size_t>(y * width + x)] = 2 * sum > count ? 255 : 0;
      }
    }
  }
  return out;
}

Rle rle_of(const Bytes& bytes, Size size) {
  Rle out;
  EXPECT_TRUE(rle_encode(view_of(bytes, {0, 0, size.width, size.height}), size, out));
  return out;
}

TEST(RunLengths, go_down_the_columns) {
  const Bytes bytes = bytes_of(
      ".##"
      ".#.");
  EXPECT_EQ(rle_of(bytes, {3, 2}).counts, (std::vector<std::uint32_t>{2, 3, 1}));
  EXPECT_EQ(rle_of(bytes_of("#..."), {2, 2}).counts, (std::vector<std::uint32_t>{0, 1, 3}));
  EXPECT_EQ(rle_of(bytes_of("...."), {2, 2}).counts, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(rle_of(bytes_of("####"), {2, 2}).counts, (std::vector<std::uint32_t>{0, 4}));
}

TEST(RunLengths, of_a_region_are_those_of_its_frame) {
  const Bytes region = bytes_of("##.#");
  Rle rle;
  ASSERT_TRUE(rle_encode(view_of(region, {1, 2, 2, 2}), {5, 6}, rle));
  Bytes whole;
  ASSERT_TRUE(rle_decode(rle, whole));
  Bytes want(30, 0);
  want[2 * 5 + 1] = want[2 * 5 + 2] = want[3 * 5 + 2] = 255;
  EXPECT_EQ(whole, want);
  EXPECT_EQ(*rle_bounds(rle), (Region{1, 2, 2, 2}));
  ASSERT_TRUE(rle_encode({}, {5, 6}, rle));
  EXPECT_EQ(rle.counts, (std::vector<std::uint32_t>{30}));
  EXPECT_EQ(*rle_bounds(rle), Region{});
  EXPECT_FALSE(rle_encode(view_of(region, {0, 0, 2, 2}), {0, 6}, rle));
}

TEST(RunLengths, refuse_a_region_that_leaves_the_frame_on_any_side) {
  const Bytes bytes = bytes_of("####");
  Rle rle;
  for (const Region& inside : {Region{0, 0, 2, 2}, Region{3, 4, 2, 2}})
    EXPECT_TRUE(rle_encode(view_of(bytes, inside), {5, 6}, rle));
  for (const Region& outside : {Region{4, 2, 2, 2}, Region{1, 5, 2, 2}, Region{-1, 2, 2, 2},
                                Region{1, -1, 2, 2}, Region{5, 2, 2, 2}, Region{1, 6, 2, 2}}) {
    const Status refused = rle_encode(view_of(bytes, outside), {5, 6}, rle);
    EXPECT_FAILS(refused, Errc::invalid_argument, "mask: its region must lie in the frame")
        << outside.x << " " << outside.y;
  }
}

TEST(RunLengths, and_their_text_go_back_and_forth) {
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const Size size{1 + static_cast<int>(random() % 70), 1 + static_cast<int>(random() % 70)};
    const Bytes bytes =
        random_mask(random, size.width, size.height, static_cast<int>(random() % 4));
    const Rle rle = rle_of(bytes, size);
    Bytes back;
    ASSERT_TRUE(rle_decode(rle, back));
    EXPECT_EQ(bytes, back);
    EXPECT_EQ(*rle_area(rle), static_cast<std::uint64_t>(
                                  std::count(bytes.begin(), bytes.end(), std::uint8_t{255})));
    EXPECT_EQ(*rle_from_string(*rle_to_string(rle), size), rle);
  }
}

TEST(RunLengths, have_their_text_by_hand) {
  // 6 and 2 as they are, 40 as 8 + 32 and 1; from the fourth on differences: 3 - 2 = 1, 13 - 40 as
  // 5 + 32 and -1.
  const Rle rle{{8, 8}, {6, 2, 40, 3, 13}};
  EXPECT_EQ(*rle_to_string(rle), "62X11UO");
  EXPECT_EQ(*rle_from_string("62X11UO", {8, 8}), rle);
}

TEST(RunLengths, that_cannot_be_are_refused) {
  const Size size{8, 8};
  for (const char* text : {"", "62X11U", "62X11Uo", "6 ", "0000", "p", "oooooooooooooooo", "62"})
    EXPECT_FAILS(rle_from_string(text, size), Errc::malformed) << text;
  EXPECT_FAILS(rle_from_string("62X11UO", {-8, -8}), Errc::invalid_argument);
  Bytes out;
  EXPECT_FALSE(rle_decode({size, {63}}, out));
  EXPECT_FALSE(rle_decode({size, {1, 0, 63}}, out));
  EXPECT_FALSE(rle_decode({size, {}}, out));
  EXPECT_FALSE(rle_area({size, {65}}));
  EXPECT_FALSE(rle_iou({size, {64}}, {{4, 16}, {64}}));
  EXPECT_FALSE(rle_merge({}));
}

TEST(RunLengths, follow_the_laws_of_sets) {
  std::mt19937 random(2);
  for (int i = 0; i < 100; ++i) {
    const Size size{1 + static_cast<int>(random() % 40), 1 + static_cast<int>(random() % 40)};
    const Bytes a = random_mask(random, size.width, size.height, 1);
    const Bytes b = random_mask(random, size.width, size.height, 1);
    Bytes both = a, any = a;
    double in_a = 0, in_both = 0, in_any = 0;
    for (std::size_t p = 0; p < a.size(); ++p) {
      both[p] = a[p] & b[p];
      any[p] = a[p] | b[p];
      in_a += a[p] != 0;
      in_both += both[p] != 0;
      in_any += any[p] != 0;
    }
    const Rle masks[] = {rle_of(a, size), rle_of(b, size)};
    EXPECT_EQ(*rle_merge(masks), rle_of(any, size));
    EXPECT_EQ(*rle_merge(masks, true), rle_of(both, size));
    EXPECT_DOUBLE_EQ(*rle_iou(masks[0], masks[1]), in_any > 0 ? in_both / in_any : 0);
    EXPECT_DOUBLE_EQ(*rle_iou(masks[0], masks[1], true), in_a > 0 ? in_both / in_a : 0);
  }
}

std::vector<std::pair<float, float>> points_of(const Polygon& polygon) {
  std::vector<std::pair<float, float>> out;
  for (const Point& p : polygon.points)
    out.emplace_back(p.x, p.y);
  return out;
}

TEST(Outlines, of_a_pixel_are_its_four_corners) {
  std::vector<Polygon> out;
  ASSERT_TRUE(mask_polygons(view_of({255}, {3, 5, 1, 1}), out));
  ASSERT_EQ(out.size(), 1U);
  EXPECT_THAT(points_of(out[0]), ::testing::ElementsAre(std::pair(4, 5), std::pair(4, 6),
                                                        std::pair(3, 6), std::pair(3, 5)));
  EXPECT_DOUBLE_EQ(polygon_area(out[0]), 1);
  ASSERT_TRUE(mask_polygons(MaskView{}, out));
  EXPECT_TRUE(out.empty());
}

TEST(Outlines, know_their_holes) {
  const Bytes bytes = bytes_of(
      "#####.."
      "#...#.."
      "#.#.#.#"
      "#...#.."
      "#####..");
  std::vector<Polygon> out;
  ASSERT_TRUE(mask_polygons(view_of(bytes, {0, 0, 7, 5}), out));
  ASSERT_EQ(out.size(), 4U);
  int holes = 0;
  for (const Polygon& p : out) {
    if (!p.is_hole) continue;
    ++holes;
    EXPECT_EQ(p.parent, 0);
    EXPECT_DOUBLE_EQ(polygon_area(p), 9);
  }
  EXPECT_EQ(holes, 1);
  EXPECT_DOUBLE_EQ(polygon_area(out[0]), 25);
}

TEST(Outlines, keep_pixels_apart_that_touch_at_a_corner) {
  std::vector<Polygon> out;
  ASSERT_TRUE(mask_polygons(view_of(bytes_of("#..#"), {0, 0, 2, 2}), out));
  EXPECT_EQ(out.size(), 2U);
  // A hole that touches another only at a corner is one with it, or not: filled, it is the same.
  const Bytes bytes = bytes_of(
      "####"
      "#.##"
      "##.#"
      "####");
  ASSERT_TRUE(mask_polygons(view_of(bytes, {0, 0, 4, 4}), out));
  Bytes back;
  ASSERT_TRUE(polygon_fill(out, {4, 4}, back));
  EXPECT_EQ(bytes, back);
}

TEST(Outlines, filled_give_the_mask_back) {
  std::mt19937 random(3);
  std::vector<Polygon> out;
  for (int i = 0; i < 200; ++i) {
    const Size size{1 + static_cast<int>(random() % 50), 1 + static_cast<int>(random() % 50)};
    const Bytes bytes =
        random_mask(random, size.width, size.height, static_cast<int>(random() % 4));
    const MaskView mask = view_of(bytes, {0, 0, size.width, size.height});
    ASSERT_TRUE(mask_polygons(mask, out));
    Bytes back;
    ASSERT_TRUE(polygon_fill(out, size, back));
    ASSERT_EQ(bytes, back);
    double area = 0;
    for (std::size_t k = 0; k < out.size(); ++k) {
      area += out[k].is_hole ? -polygon_area(out[k]) : polygon_area(out[k]);
      if (out[k].is_hole) {
        ASSERT_LT(out[k].parent, static_cast<std::int32_t>(k));
        EXPECT_FALSE(out[static_cast<std::size_t>(out[k].parent)].is_hole);
      }
    }
    EXPECT_DOUBLE_EQ(area, static_cast<double>(*rle_area(rle_of(bytes, size))));
  }
}

TEST(Outlines, with_tolerance_stay_near_the_exact_ones) {
  std::mt19937 random(4);
  const Size size{80, 60};
  const Bytes bytes = random_mask(random, size.width, size.height, 5);
  const MaskView mask = view_of(bytes, {0, 0, size.width, size.height});
  std::vector<Polygon> exact, simple;
  ASSERT_TRUE(mask_polygons(mask, exact));
  ASSERT_TRUE(mask_polygons(mask, simple, 1.5F));
  ASSERT_EQ(exact.size(), simple.size());
  std::size_t before = 0, after = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    before += exact[i].points.size();
    after += simple[i].points.size();
    EXPECT_GE(simple[i].points.size(), 3U);
    for (const Point& p : exact[i].points) {
      double nearest = 1e9;
      const auto& q = simple[i].points;
      for (std::size_t k = 0; k < q.size(); ++k) {
        const Point a = q[k], b = q[(k + 1) % q.size()];
        const double dx = b.x - a.x, dy = b.y - a.y;
        const double t =
            std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
        nearest = std::min(nearest, std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy));
      }
      EXPECT_LE(nearest, 1.5 + 1e-6);
    }
  }
  EXPECT_LT(after, before / 2);
  EXPECT_FALSE(mask_polygons(mask, simple, -1));
  EXPECT_FALSE(mask_polygons(mask, simple, std::numeric_limits<float>::quiet_NaN()));
}

TEST(Outlines, that_cannot_be_filled_are_refused) {
  Polygon polygon;
  polygon.points = {{0, 0}, {std::numeric_limits<float>::infinity(), 0}, {0, 5}};
  Bytes out;
  EXPECT_FALSE(polygon_fill({&polygon, 1}, {4, 4}, out));
  EXPECT_FALSE(polygon_fill({}, {0, 4}, out));
  polygon.points = {{-1e30F, -1e30F}, {1e30F, -1e30F}, {1e30F, 1e30F}, {-1e30F, 1e30F}};
  ASSERT_TRUE(polygon_fill({&polygon, 1}, {2, 2}, out));
  EXPECT_EQ(out, Bytes(4, 255));
}

// Edges from the top to the bottom and back.
Polygon fence(int edges, float width, float height) {
  Polygon polygon;
  for (int i = 0; i < edges; ++i) {
    const float x = width * static_cast<float>(i) / static_cast<float>(edges);
    polygon.points.push_back({x, i % 2 == 0 ? 0 : height});
  }
  return polygon;
}

TEST(PolygonFill, edges_that_cross_too_many_rows_are_refused) {
  std::vector<std::uint8_t> out;
  const std::vector<Polygon> many(5, fence(1000, 64, 65535));
  const auto status = polygon_fill(many, {64, 65535}, out);
  EXPECT_FAILS(status, Errc::exhausted, "at most 268435456");
}

TEST(PolygonFill, bands_of_rows_give_what_all_rows_at_once_give) {
  // More crossings than are kept at once; the same image from a tenth of its rows each.
  const Polygon whole = fence(1000, 500, 4000);
  std::vector<std::uint8_t> out;
  ASSERT_TRUE(polygon_fill({&whole, 1}, {500, 4000}, out));
  for (int part = 0; part < 10; ++part) {
    Polygon moved = whole;
    for (Point& p : moved.points)
      p.y -= 400.0F * static_cast<float>(part);
    std::vector<std::uint8_t> rows;
    ASSERT_TRUE(polygon_fill({&moved, 1}, {500, 400}, rows));
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), out.begin() + part * 400 * 500)) << part;
  }
}

}  // namespace
}  // namespace halyard
