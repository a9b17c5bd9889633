// SPDX-License-Identifier: Apache-2.0
// Boxes, the letterbox rule, and the map between source and destination pixels.
#include "halyard/geometry.h"

#include <gtest/gtest.h>

#include "halyard/placement.h"

namespace halyard {
namespace {

TEST(Iou, follows_the_definition) {
  const Box a{0, 0, 2, 2};
  EXPECT_FLOAT_EQ(iou(a, a), 1);
  EXPECT_FLOAT_EQ(iou(a, {1, 1, 3, 3}), 1.0F / 7);
  EXPECT_FLOAT_EQ(iou(a, {2, 0, 4, 2}), 0);
  EXPECT_FLOAT_EQ(iou(a, {1, 1, 1, 2}), 0);
  EXPECT_FLOAT_EQ(iou({3, 3, 1, 1}, {3, 3, 1, 1}), 0);
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

TEST(Placement, letterbox_maps_corners_of_the_content_to_corners_of_the_source) {
  const Placement p({1280, 720}, {0, 0, 1280, 720}, {Flip::none, Rotation::none}, {640, 640},
                    {0, 140, 640, 360});
  EXPECT_EQ(p.to_source(Box{0, 140, 640, 500}), (Box{0, 0, 1280, 720}));
  EXPECT_EQ(p.to_destination(Box{0, 0, 1280, 720}), (Box{0, 140, 640, 500}));
}

TEST(Placement, to_source_clips_boxes_to_the_picture) {
  const Placement p({100, 50}, Region{0, 0, 100, 50}, {Flip::none, Rotation::none}, {100, 100},
                    {0, 25, 100, 50});
  EXPECT_EQ(p.to_source(Box{-10, 0, 200, 100}), (Box{0, 0, 100, 50}));
}

TEST(Placement, turns_clockwise_after_the_flip) {
  // A 4 x 2 source; its top left pixel centre is (0.5, 0.5).
  const Region all{0, 0, 4, 2};
  const Point corner{0.5F, 0.5F};
  const Point turned = Placement({4, 2}, all, {Flip::none, Rotation::cw90}, {2, 4}, {0, 0, 2, 4})
                           .to_destination(corner);
  EXPECT_FLOAT_EQ(turned.x, 1.5F);
  EXPECT_FLOAT_EQ(turned.y, 0.5F);
  const Point both =
      Placement({4, 2}, all, {Flip::horizontal, Rotation::cw90}, {2, 4}, {0, 0, 2, 4})
          .to_destination(corner);
  EXPECT_FLOAT_EQ(both.x, 1.5F);
  EXPECT_FLOAT_EQ(both.y, 3.5F);
}

TEST(Placement, every_turn_and_flip_round_trips) {
  const Region crop{10, 20, 300, 200};
  for (const Flip flip : {Flip::none, Flip::vertical, Flip::horizontal}) {
    for (const Rotation rotation :
         {Rotation::none, Rotation::cw90, Rotation::cw180, Rotation::cw270}) {
      const Placement p({640, 480}, crop, {flip, rotation}, {128, 96}, {7, 3, 90, 81});
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
