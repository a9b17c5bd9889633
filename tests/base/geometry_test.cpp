// SPDX-License-Identifier: Apache-2.0
// Boxes, the letterbox rule, and the map between source and destination pixels.
#include "halyard/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "halyard/placement.h"
#include "support/product.h"

namespace halyard {
namespace {

TEST(Iou, follows_the_definition) {
  const Box a{0, 0, 2, 2};
  EXPECT_FLOAT_EQ(iou(a, a), 1);
  EXPECT_FLOAT_EQ(iou(a, {1, 1, 3, 3}), 1.0F / 7);
  EXPECT_FLOAT_EQ(iou(a, {2, 0, 4, 2}), 0);
  EXPECT_FLOAT_EQ(iou(a, {1, 1, 1, 2}), 0);
  EXPECT_FLOAT_EQ(iou(Box{3, 3, 1, 1}, Box{3, 3, 1, 1}), 0);
}

TEST(Iou, of_regions_follows_the_definition) {
  const RegionF a{0, 0, 2, 2};
  EXPECT_EQ(iou(a, a), 1);
  EXPECT_EQ(iou(a, RegionF{1, 1, 2, 2}), 1.0 / 7);
  EXPECT_EQ(iou(a, RegionF{2, 0, 2, 2}), 0);
  EXPECT_EQ(iou(a, RegionF{1, 1, 0, 1}), 0);
  EXPECT_EQ(iou(RegionF{3, 3, -2, -2}, RegionF{3, 3, -2, -2}), 0);
}

struct Measures {
  double iou = 0;
  double ios = 0;
};

// As the measures are defined, in double.
Measures naive_measures(const Box& a, const Box& b) {
  const auto length = [](double from, double to) { return to > from ? to - from : 0.0; };
  const double shared = length(std::max(a.x1, b.x1), std::min(a.x2, b.x2)) *
                        length(std::max(a.y1, b.y1), std::min(a.y2, b.y2));
  const double first = length(a.x1, a.x2) * length(a.y1, a.y2);
  const double second = length(b.x1, b.x2) * length(b.y1, b.y2);
  if (shared == 0) return {};
  return {shared / (first + second - shared), shared / std::min(first, second)};
}

TEST(Measures, are_those_of_their_definition) {
  std::mt19937 random(11);
  // Whole numbers, so that sides coincide, and any numbers.
  const auto side = [&random](bool is_whole) {
    return is_whole ? static_cast<float>(random() % 8) : static_cast<float>(random()) * 1e-7F;
  };
  std::size_t overlapping = 0;
  for (int i = 0; i < 20000; ++i) {
    const bool is_whole = i % 2 == 0;
    const auto box = [&] {
      Box out{side(is_whole), side(is_whole), side(is_whole), side(is_whole)};
      if (i % 3 == 0) return out;  // most of these are empty or inverted
      if (out.x1 > out.x2) std::swap(out.x1, out.x2);
      if (out.y1 > out.y2) std::swap(out.y1, out.y2);
      return out;
    };
    const Box a = box();
    const Box b = box();
    const Measures want = naive_measures(a, b);
    EXPECT_NEAR(iou(a, b), want.iou, 1e-6);
    EXPECT_EQ(ios(a, b), static_cast<float>(want.ios));
    const auto region = [](const Box& c) { return RegionF{c.x1, c.y1, c.width(), c.height()}; };
    if (is_whole) {
      EXPECT_EQ(iou(region(a), region(b)), want.iou);
    }
    overlapping += want.iou > 0;
  }
  EXPECT_GT(overlapping, 4000U);
}

TEST(Ios, of_boxes_that_are_not_finite_is_zero) {
  const Box box{0, 0, 9, 9};
  for (const float bad : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    for (const Box& other :
         {Box{bad, 0, 9, 9}, Box{0, bad, 9, 9}, Box{0, 0, bad, 9}, Box{0, 0, 9, bad}}) {
      EXPECT_EQ(ios(box, other), 0);
      EXPECT_EQ(ios(other, box), 0);
    }
  }
}

TEST(Letterbox, worked_numbers) {
  EXPECT_EQ(letterbox_region({1280, 720}, {640, 640}), (Region{0, 140, 640, 360}));
  EXPECT_EQ(letterbox_region({810, 1080}, {640, 640}), (Region{80, 0, 480, 640}));
  EXPECT_EQ(letterbox_region({640, 640}, {320, 320}), (Region{0, 0, 320, 320}));
  EXPECT_EQ(letterbox_region({640, 360}, {320, 320}), (Region{0, 70, 320, 180}));
}

TEST(Letterbox, never_vanishes_and_rests_are_rounded_down) {
  EXPECT_EQ(letterbox_region({10000, 1}, {64, 64}), (Region{0, 31, 64, 1}));
  EXPECT_EQ(letterbox_region({1, 10000}, {64, 64}), (Region{31, 0, 1, 64}));
  EXPECT_EQ(letterbox_region({0, 5}, {64, 48}), (Region{0, 0, 64, 48}));
}

// Computed with Python's round(), which takes halves to even:
// r = min(W/w, H/h); round(w r), round(h r); round((W - width)/2 - 0.1), and so for rows.
TEST(Letterbox, worked_numbers_of_the_trainers_rule) {
  struct Row {
    Size source, target;
    Region predict, validate;
  };
  constexpr Size square{640, 640};
  for (const Row& row : {
           Row{{1280, 720}, square, {0, 140, 640, 360}, {0, 140, 640, 360}},
           Row{{1280, 719}, square, {0, 140, 640, 360}, {0, 140, 640, 360}},  // 359.5 -> 360
           Row{{1280, 721}, square, {0, 140, 640, 360}, {0, 140, 640, 360}},  // 360.5 -> 360
           Row{{1283, 720}, square, {0, 140, 640, 359}, {0, 140, 640, 359}},
           Row{{810, 1080}, square, {80, 0, 480, 640}, {80, 0, 480, 640}},
           Row{{500, 375}, square, {0, 80, 640, 480}, {70, 132, 500, 375}},
           Row{{333, 500}, square, {107, 0, 426, 640}, {153, 70, 333, 500}},
           Row{{640, 427}, square, {0, 106, 640, 427}, {0, 106, 640, 427}},  // 106.5 - 0.1
           Row{{427, 640}, square, {106, 0, 427, 640}, {106, 0, 427, 640}},
           Row{{639, 480}, square, {0, 79, 640, 481}, {0, 80, 639, 480}},
           Row{{100, 3}, square, {0, 310, 640, 19}, {270, 318, 100, 3}},
           Row{{612, 612}, square, {0, 0, 640, 640}, {14, 14, 612, 612}},
           Row{{1080, 1920}, {640, 384}, {212, 0, 216, 384}, {212, 0, 216, 384}},
           Row{{50, 37}, {64, 64}, {0, 8, 64, 47}, {7, 13, 50, 37}},
       }) {
    SCOPED_TRACE(::testing::Message() << row.source.width << "x" << row.source.height);
    EXPECT_EQ(letterbox_region(row.source, row.target, LetterboxRule::ultralytics), row.predict);
    EXPECT_EQ(letterbox_region(row.source, row.target, LetterboxRule::ultralytics_val),
              row.validate);
  }
}

TEST(Letterbox, rules_differ_where_halves_are_rounded) {
  EXPECT_EQ(letterbox_region({1280, 721}, {640, 640}), (Region{0, 139, 640, 361}));
  EXPECT_EQ(letterbox_region({1280, 721}, {640, 640}, LetterboxRule::ultralytics),
            (Region{0, 140, 640, 360}));
}

TEST(Letterbox, nothing_vanishes_or_leaves_the_target_under_any_rule) {
  for (const auto& [rule, source, target] : test::product(
           {LetterboxRule::hal, LetterboxRule::ultralytics, LetterboxRule::ultralytics_val},
           {Size{65535, 1}, Size{1, 65535}, Size{1, 1}, Size{7, 5}},
           {Size{1, 1}, Size{1, 640}, Size{640, 1}, Size{64, 48}})) {
    const Region r = letterbox_region(source, target, rule);
    EXPECT_GE(r.width, 1);
    EXPECT_GE(r.height, 1);
    EXPECT_GE(r.x, 0);
    EXPECT_GE(r.y, 0);
    EXPECT_LE(r.x + r.width, target.width);
    EXPECT_LE(r.y + r.height, target.height);
  }
}

// Where pixel (x, y) of a 3 x 2 image goes, and the size of what comes out.
struct Rotated {
  int x, y, width, height;
  friend bool operator==(const Rotated&, const Rotated&) = default;
};
Rotated rotated(Rotated at, Orientation o) {
  if (o.flip == Flip::horizontal) at.x = at.width - 1 - at.x;
  if (o.flip == Flip::vertical) at.y = at.height - 1 - at.y;
  for (int quarter = 0; quarter < static_cast<int>(o.rotation); ++quarter)
    at = {at.height - 1 - at.y, at.x, at.height, at.width};
  return at;
}

std::vector<Orientation> all_orientations() {
  std::vector<Orientation> all;
  for (const auto& [flip, rotation] :
       test::product({Flip::none, Flip::vertical, Flip::horizontal},
                     {Rotation::none, Rotation::cw90, Rotation::cw180, Rotation::cw270}))
    all.push_back({flip, rotation});
  return all;
}

TEST(Orientation, one_after_the_other_moves_pixels_as_both_do) {
  for (const auto& [first, second, i] :
       test::product(all_orientations(), all_orientations(), test::upto(6))) {
    const Rotated pixel{i % 3, i / 3, 3, 2};
    EXPECT_EQ(rotated(pixel, then(first, second)), rotated(rotated(pixel, first), second))
        << static_cast<int>(first.flip) << static_cast<int>(first.rotation)
        << static_cast<int>(second.flip) << static_cast<int>(second.rotation);
  }
}

TEST(Orientation, the_inverse_moves_every_pixel_back) {
  for (const Orientation o : all_orientations()) {
    for (int i = 0; i < 6; ++i) {
      const Rotated pixel{i % 3, i / 3, 3, 2};
      EXPECT_EQ(rotated(rotated(pixel, o), inverse(o)), pixel);
      EXPECT_EQ(rotated(rotated(pixel, inverse(o)), o), pixel);
    }
    EXPECT_EQ(then(o, inverse(o)), Orientation{});
  }
}

TEST(AffineMap, follows_and_undoes) {
  const Affine turn{{0, -2, 30, 2, 0, 5}};
  const Affine shift{{1, 0, -7, 0, 1, 0.5}};
  // (1, 2) -> (26, 7) -> (19, 7.5)
  const Affine both = then(turn, shift);
  EXPECT_EQ(both, (Affine{{0, -2, 23, 2, 0, 5.5}}));
  EXPECT_EQ(then(both, inverse(both)), Affine{});
  EXPECT_FALSE(std::isfinite(inverse(Affine{{1, 2, 0, 2, 4, 0}}).m[0]));
}

TEST(Placement, letterbox_maps_corners_of_the_content_to_corners_of_the_source) {
  const Placement p({1280, 720}, {0, 0, 1280, 720}, {Flip::none, Rotation::none}, {640, 640},
                    {0, 140, 640, 360});
  EXPECT_EQ(p.to_source(Box{0, 140, 640, 500}), (Box{0, 0, 1280, 720}));
  EXPECT_EQ(p.to_destination(Box{0, 0, 1280, 720}), (Box{0, 140, 640, 500}));
}

TEST(Placement, to_source_clips_boxes_to_the_image) {
  const Placement p({100, 50}, Region{0, 0, 100, 50}, {Flip::none, Rotation::none}, {100, 100},
                    {0, 25, 100, 50});
  EXPECT_EQ(p.to_source(Box{-10, 0, 200, 100}), (Box{0, 0, 100, 50}));
}

TEST(Placement, to_source_lays_boxes_beside_the_image_on_its_edge) {
  const Placement p({100, 50}, Region{0, 0, 100, 50}, {Flip::none, Rotation::none}, {100, 100},
                    {0, 25, 100, 50});
  struct Case {
    const char* side;
    Box destination, source;
  };
  const Case cases[] = {{"left", {-30, 35, -20, 45}, {0, 10, 0, 20}},
                        {"above", {10, 5, 20, 15}, {10, 0, 20, 0}},
                        {"right", {120, 35, 130, 45}, {100, 10, 100, 20}},
                        {"below", {10, 85, 20, 95}, {10, 50, 20, 50}}};
  for (const Case& c : cases)
    EXPECT_EQ(p.to_source(c.destination), c.source) << c.side;
}

TEST(Placement, turns_clockwise_after_the_flip) {
  // A 4 x 2 source; its top left pixel centre is (0.5, 0.5).
  const Region all{0, 0, 4, 2};
  const Point corner{0.5F, 0.5F};
  const Point rotated = Placement({4, 2}, all, {Flip::none, Rotation::cw90}, {2, 4}, {0, 0, 2, 4})
                            .to_destination(corner);
  EXPECT_FLOAT_EQ(rotated.x, 1.5F);
  EXPECT_FLOAT_EQ(rotated.y, 0.5F);
  const Point both =
      Placement({4, 2}, all, {Flip::horizontal, Rotation::cw90}, {2, 4}, {0, 0, 2, 4})
          .to_destination(corner);
  EXPECT_FLOAT_EQ(both.x, 1.5F);
  EXPECT_FLOAT_EQ(both.y, 3.5F);
}

TEST(Placement, every_turn_and_flip_round_trips) {
  const Region crop{10, 20, 300, 200};
  for (const Orientation orientation : all_orientations()) {
    const Placement p({640, 480}, crop, orientation, {128, 96}, {7, 3, 90, 81});
    for (const Point point : {Point{10, 20}, Point{33.25F, 100.5F}, Point{310, 220}}) {
      const Point there = p.to_destination(point);
      const Point back = p.to_source(there);
      EXPECT_NEAR(back.x, point.x, 1e-3);
      EXPECT_NEAR(back.y, point.y, 1e-3);
      EXPECT_GE(there.x, 7 - 1e-3);
      EXPECT_LE(there.x, 97 + 1e-3);
      EXPECT_GE(there.y, 3 - 1e-3);
      EXPECT_LE(there.y, 84 + 1e-3);
    }
  }
}

// The source pixel that content pixel (x, y) shows, by permutation.
TEST(Placement, pixel_centres_map_exactly_both_ways_under_every_orientation) {
  const Region crop{5, 3, 12, 8};
  for (const Orientation o : all_orientations()) {
    const bool swaps = swaps_axes(o.rotation);
    const Region content{9, 2, swaps ? 8 : 12, swaps ? 12 : 8};
    const Placement p({40, 30}, crop, o, {32, 28}, content);
    for (const auto [y, x] : test::grid(crop.height, crop.width)) {
      const Rotated to = rotated({x, y, crop.width, crop.height}, o);
      const Point source{static_cast<float>(crop.x + x) + 0.5F,
                         static_cast<float>(crop.y + y) + 0.5F};
      const Point shown{static_cast<float>(content.x + to.x) + 0.5F,
                        static_cast<float>(content.y + to.y) + 0.5F};
      EXPECT_EQ(p.to_destination(source).x, shown.x);
      EXPECT_EQ(p.to_destination(source).y, shown.y);
      EXPECT_EQ(p.to_source(shown).x, source.x);
      EXPECT_EQ(p.to_source(shown).y, source.y);
    }
    EXPECT_EQ(p.to_source(Box{9, 2, 9.0F + static_cast<float>(content.width),
                              2.0F + static_cast<float>(content.height)}),
              (Box{5, 3, 17, 11}));
  }
}

// 1283 x 720 into 640 x 640: r = 640 / 1283, 640 x 359 pixels at (0, 140). A trainer subtracts the
// pad and divides by r.
TEST(Placement, a_nominal_scale_maps_boxes_as_trainers_do) {
  const double ratio = 640.0 / 1283;
  Placement p({1283, 720}, {0, 0, 1283, 720}, Orientation{}, {640, 640}, {0, 140, 640, 359});
  p.set_nominal_scale(ratio);
  const Box box{100, 200, 300, 444.5F};
  const Box back = p.to_source(box);
  EXPECT_FLOAT_EQ(back.x1, static_cast<float>(100 / ratio));
  EXPECT_FLOAT_EQ(back.y1, static_cast<float>((200 - 140) / ratio));
  EXPECT_FLOAT_EQ(back.x2, static_cast<float>(300 / ratio));
  EXPECT_FLOAT_EQ(back.y2, static_cast<float>((444.5 - 140) / ratio));
  EXPECT_NEAR(p.to_destination(back).y2, 444.5, 1e-3);
  EXPECT_EQ(p.content(), (Region{0, 140, 640, 359}));
}

TEST(Placement, a_letterbox_needs_no_conversion) {
  const Placement hal = Placement::letterbox({1280, 720}, {640, 640});
  EXPECT_EQ(hal.content(), (Region{0, 140, 640, 360}));
  EXPECT_EQ(hal.to_source(Box{100, 150, 300, 450}), (Box{200, 20, 600, 620}));
  const auto trainers = Placement::letterbox({1283, 720}, {640, 640}, LetterboxRule::ultralytics);
  EXPECT_EQ(trainers.content(), (Region{0, 140, 640, 359}));
  EXPECT_FLOAT_EQ(trainers.to_source(Box{0, 150, 10, 400}).y2,
                  static_cast<float>(260 / (640.0 / 1283)));
  const auto small = Placement::letterbox({100, 50}, {640, 640}, LetterboxRule::ultralytics_val);
  EXPECT_EQ(small.content().width, 100);
  EXPECT_EQ(small.to_source(Box{280, 300, 290, 310}), (Box{10, 5, 20, 15}));
  EXPECT_EQ(Placement::letterbox({0, 5}, {640, 640}).source(), (Size{0, 0}));
}

TEST(Placement, keypoints_go_back_clipped_and_keep_their_scores) {
  Placement p({100, 50}, {0, 0, 100, 50}, Orientation{}, {64, 64}, {0, 16, 64, 32});
  const auto back = p.to_source(std::vector<Keypoint>{
      {{32, 32}, 0.5F}, {{-3, 80}, 0.25F}, {{70, 10}, 1}, {{NAN, 32}, 0.125F}});
  ASSERT_EQ(back.size(), 4U);
  EXPECT_EQ(back[0], (Keypoint{{50, 25}, 0.5F}));
  EXPECT_EQ(back[1], (Keypoint{{0, 50}, 0.25F}));
  EXPECT_EQ(back[2], (Keypoint{{100, 0}, 1}));
  EXPECT_TRUE(std::isnan(back[3].at.x));
  EXPECT_EQ(back[3].score, 0.125F);
}

TEST(Placement, a_free_map_goes_both_ways) {
  const Affine map{{0.5, 0.25, 3, -0.25, 0.5, 10}};
  const Placement p({100, 80}, {0, 0, 100, 80}, map, {64, 64}, {0, 0, 64, 64});
  EXPECT_TRUE(p.is_affine());
  EXPECT_EQ(p.forward(), map);
  const Point there = p.to_destination(Point{20, 8});
  EXPECT_EQ(there.x, 15);
  EXPECT_EQ(there.y, 9);
  const Point back = p.to_source(there);
  EXPECT_FLOAT_EQ(back.x, 20);
  EXPECT_FLOAT_EQ(back.y, 8);
  // The box around four rotated corners, clipped to the image.
  EXPECT_EQ(p.to_destination(Box{0, 0, 8, 4}), (Box{3, 8, 8, 12}));
  EXPECT_EQ(p.to_source(Box{-500, -500, 500, 500}), (Box{0, 0, 100, 80}));
}

TEST(Placement, detections_keep_their_order_and_labels) {
  const Placement p({200, 100}, {0, 0, 200, 100}, {Flip::none, Rotation::none}, {100, 100},
                    {0, 25, 100, 50});
  const auto mapped = p.to_source({{{10, 30, 20, 40}, 0.5F, 3, 17}, {{0, 25, 1, 26}, 0.4F, 1, 2}});
  ASSERT_EQ(mapped.size(), 2U);
  EXPECT_EQ(mapped[0], (Detection{{20, 10, 40, 30}, 0.5F, 3, 17}));
  EXPECT_EQ(mapped[1], (Detection{{0, 0, 2, 2}, 0.4F, 1, 2}));
}

}  // namespace
}  // namespace halyard
