// SPDX-License-Identifier: Apache-2.0
// ByteTrack in mode hal, beyond its closed forms and what holds for every tracker.
#include <gtest/gtest.h>

#include "track/updates.h"

namespace halyard::test {
namespace {

TEST(ByteTrack, a_high_score_starts_a_track_and_a_low_one_does_not) {
  auto tracker = *ByteTrack::create();
  EXPECT_TRUE(update(tracker, {found(usual, 0.5F)}, 0ns).empty());
  const auto tracks = update(tracker, {found(usual, 0.9F, 3)}, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].id, 1U);
  EXPECT_EQ(tracks[0].box, usual);
  EXPECT_EQ(tracks[0].score, 0.9F);
  EXPECT_EQ(tracks[0].label, 3);
  EXPECT_EQ(tracks[0].detection, 0);
  EXPECT_EQ(tracks[0].updates, 1U);
  EXPECT_EQ(tracks[0].created, frame);
  EXPECT_EQ(tracks[0].last_seen, frame);
}

TEST(ByteTrack, the_first_pass_goes_first) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 0ns);
  // The low score lies better, but the high one is asked first.
  const Box beside{0.22F, 0.2F, 0.42F, 0.4F};
  const auto tracks = update(tracker, {found(usual, 0.4F), found(beside, 0.8F)}, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].detection, 1);
}

TEST(ByteTrack, a_frame_that_comes_late_may_still_find_its_objects) {
  auto tracker = *ByteTrack::create();
  update(tracker, {found(usual)}, 0s);
  EXPECT_EQ(update(tracker, {found(usual)}, 2s)[0].updates, 2U);
  EXPECT_TRUE(update(tracker, {}, 3s).empty());
}

TEST(ByteTrack, identities_are_never_given_twice) {
  auto tracker = *ByteTrack::create({.max_coast = 0ns});
  update(tracker, {found(usual)}, 0ns);
  update(tracker, {}, frame);
  EXPECT_EQ(update(tracker, {found(usual)}, 2 * frame)[0].id, 2U);
}

TEST(ByteTrack, a_lost_box_keeps_the_size_that_it_had_grown_to) {
  for (const bool is_paper : {false, true}) {
    Tracker tracker = is_paper ? Tracker(*ByteTrack::paper()) : Tracker(*ByteTrack::create());
    const auto grown = [](int i) {
      const auto size = static_cast<float>(100 + 2 * i);
      return Box{0, 0, size, 2 * size};
    };
    for (int i = 0; i < 60; ++i)
      update(tracker, {found(grown(i))}, i * frame);
    // One frame more it grows, until it is known to be lost.
    const Box first = update(tracker, {}, 60 * frame).at(0).box;
    EXPECT_GT(first.height(), grown(59).height());
    for (int i = 61; i < 70; ++i) {
      const Box later = update(tracker, {}, i * frame).at(0).box;
      EXPECT_NEAR(later.height(), first.height(), 1e-3F) << i << (is_paper ? " paper" : " hal");
      EXPECT_GT(later.y1 + later.y2, first.y1 + first.y2) << "its centre moves on";
    }
  }
}

TEST(ByteTrack, tiny_and_huge_boxes_match_like_any_other) {
  for (const float scale : {1e-4F, 1.0F, 1e6F}) {
    auto tracker = *ByteTrack::create();
    const Box box{0.5F * scale, 0.5F * scale, 0.7F * scale, 0.9F * scale};
    for (int i = 0; i < 5; ++i) {
      ASSERT_EQ(update(tracker, {found(box)}, i * frame).size(), 1U) << scale;
    }
    EXPECT_EQ(tracker.tracks()[0].updates, 5U);
  }
}

TEST(ByteTrack, with_an_iou_floor_of_zero_boxes_must_still_overlap) {
  auto tracker = *ByteTrack::create({.min_iou = 0});
  update(tracker, {found({0, 0, 1, 1})}, 0ns);
  EXPECT_EQ(update(tracker, {found({5, 5, 6, 6})}, frame).size(), 2U);
}

}  // namespace
}  // namespace halyard::test
