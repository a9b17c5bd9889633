// SPDX-License-Identifier: Apache-2.0
// OC-SORT's three parts, and SORT's states.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "track/observations.h"
#include "track/updates.h"

namespace halyard::test {
namespace {

using track::Direction;
using track::Observed;

Box at(float x, float y = 0) {
  return {x, y, x + 50, y + 100};
}

TEST(Observations, agreement_is_a_half_minus_the_angle_over_pi) {
  for (int degrees = -180; degrees <= 180; ++degrees) {
    const double angle = degrees * std::numbers::pi / 180;
    const double value = track::agreement({1, 0}, {std::cos(angle), std::sin(angle)});
    EXPECT_NEAR(value, 0.5 - std::abs(angle) / std::numbers::pi, 1e-7) << degrees;
  }
  EXPECT_NEAR(track::agreement({0, 0}, {1, 0}), 0, 1e-7);
}

TEST(Observations, a_direction_has_length_one_or_none) {
  const Direction way = track::direction_between(at(0), at(30, 40));
  EXPECT_NEAR(way.x, 0.6, 1e-12);
  EXPECT_NEAR(way.y, 0.8, 1e-12);
  const Direction none = track::direction_between(at(5), at(5));
  EXPECT_EQ(none.x, 0);
  EXPECT_EQ(none.y, 0);
}

TEST(Observations, look_back_three_frames_or_as_far_as_something_was_seen) {
  Observed past(at(0));
  EXPECT_EQ(past.before(3), at(0));
  for (int i = 1; i <= 5; ++i) {
    past.predict(1);
    past.see(at(10.0F * static_cast<float>(i)), 3);
  }
  past.predict(1);
  EXPECT_EQ(past.before(3), at(30));  // now is frame 6
  past.predict(1);
  past.predict(1);
  EXPECT_EQ(past.before(3), at(50));  // frame 5 of 8
  past.predict(1);
  EXPECT_EQ(past.before(3), at(50));  // nothing in 6..8: the last one
}

TEST(Observations, look_back_to_the_first_frame) {
  Observed past(at(0));
  for (int i = 1; i <= 3; ++i) {
    past.predict(1);
    past.see(at(10.0F * static_cast<float>(i)), 3);
    EXPECT_EQ(past.before(static_cast<std::uint32_t>(i)), at(0)) << i;
    EXPECT_EQ(past.before(7), at(0)) << i;  // as far as something was seen
  }
}

TEST(Observations, a_gap_is_filtered_anew_along_the_straight_way) {
  // After a gap the filter is what it had been, had the object been seen on the straight way.
  Observed gap(at(0));
  Observed seen(at(0));
  for (int i = 1; i <= 4; ++i) {
    gap.predict(1);
    gap.see(at(4.0F * static_cast<float>(i)), 3);
    seen.predict(1);
    seen.see(at(4.0F * static_cast<float>(i)), 3);
  }
  for (int i = 1; i <= 6; ++i) {  // turns: 16 -> 16 in x, 0 -> 60 in y
    gap.predict(1);
    seen.predict(1);
    if (i == 6) gap.see(at(16, 60), 3);
    seen.see(at(16, 10.0F * static_cast<float>(i)), 3);
  }
  gap.predict(1);
  seen.predict(1);
  EXPECT_NEAR(gap.box().x1, seen.box().x1, 1e-3F);
  EXPECT_NEAR(gap.box().y1, seen.box().y1, 1e-3F);
  EXPECT_NEAR(gap.box().y2, seen.box().y2, 1e-3F);
}

TEST(OcSort, momentum_prefers_the_detection_that_lies_ahead) {
  for (const float inertia : {0.0F, 0.2F}) {
    auto tracker = *OcSort::create({.inertia = inertia});
    for (int i = 0; i < 10; ++i)
      update(tracker, {found(at(static_cast<float>(i)))}, i * frame);
    // It is expected at 10 and was at 7 three frames ago. The nearer detection is a way back.
    const auto tracks = update(tracker, {found(at(14)), found(at(6.5F))}, 10 * frame);
    EXPECT_EQ(tracks[0].detection, inertia > 0 ? 0 : 1);
  }
}

TEST(OcSort, recovers_a_track_where_it_was_seen_last) {
  auto tracker = *OcSort::create();
  for (int i = 0; i < 10; ++i)
    update(tracker, {found(at(12.0F * static_cast<float>(i)))}, i * frame);
  // It stops at 108 behind something; the filter goes on to far beyond.
  for (int i = 10; i < 20; ++i)
    update(tracker, {}, i * frame);
  EXPECT_LT(iou(tracker.tracks()[0].box, at(108)), 0.3F);
  const auto tracks = update(tracker, {found(at(110))}, 20 * frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].detection, 0);
}

TEST(OcSort, a_seen_box_is_the_detections_own) {
  auto tracker = *OcSort::create();
  update(tracker, {found(at(0))}, 0ns);
  EXPECT_EQ(update(tracker, {found(at(7))}, frame)[0].box, at(7));
}

TEST(OcSort, a_low_score_continues_a_track_only_when_told) {
  for (const bool has_low_pass : {false, true}) {
    auto tracker = *OcSort::create({.has_low_pass = has_low_pass});
    update(tracker, {found(at(0))}, 0ns);
    const auto tracks = update(tracker, {found(at(0), 0.3F), found(at(0), 0.05F)}, frame);
    EXPECT_EQ(tracks[0].detection, has_low_pass ? 0 : -1);
  }
}

template <class Make>
void expect_three_hits(Make make) {
  Tracker tracker = make();
  EXPECT_EQ(update(tracker, {found(at(0))}, 0ns)[0].state, TrackState::tracked);  // at the start
  for (int i = 1; i < 10; ++i)
    update(tracker, {found(at(0))}, i * frame);
  for (int i = 0; i < 4; ++i) {
    const auto tracks = update(tracker, {found(at(0)), found(at(500))}, (10 + i) * frame);
    ASSERT_EQ(tracks.size(), 2U);
    EXPECT_EQ(tracks[1].state, i < 3 ? TrackState::tentative : TrackState::tracked) << i;
  }
  update(tracker, {found(at(0))}, 14 * frame);
  const auto tracks = update(tracker, {found(at(0)), found(at(500))}, 15 * frame);
  EXPECT_EQ(tracks[1].id, 2U);
  EXPECT_EQ(tracks[1].state, TrackState::tentative);  // counts anew after a gap
}

TEST(OcSort, believes_a_track_after_three_hits_in_a_row) {
  expect_three_hits([] { return *OcSort::create(); });
}

TEST(Sort, believes_a_track_after_three_hits_in_a_row) {
  expect_three_hits([] { return *Sort::create(); });
}

TEST(Sort, forgives_one_frame_and_not_two) {
  auto tracker = *Sort::create();
  update(tracker, {found(at(0))}, 0ns);
  EXPECT_EQ(update(tracker, {}, frame).size(), 1U);
  EXPECT_TRUE(update(tracker, {}, 2 * frame).empty());
}

TEST(Sort, takes_the_most_total_iou_and_drops_small_pairs_afterwards) {
  // Total IoU wants 0-0 (0.72) and 1-1 (0.25), and 1-1 is then dropped.
  auto tracker = *Sort::create();
  update(tracker, {found(at(0)), found(at(38))}, 0ns);
  const auto tracks = update(tracker, {found(at(8)), found(at(68))}, frame);
  EXPECT_EQ(each(tracks, &Track::detection), (std::vector{0, -1, 1}));
}

TEST(Sort, ignores_scores_below_the_least) {
  auto tracker = *Sort::create({.min_score = 0.5F});
  EXPECT_TRUE(update(tracker, {found(at(0), 0.4F)}, 0ns).empty());
  EXPECT_EQ(update(tracker, {found(at(0), 0.5F)}, frame).size(), 1U);
}

}  // namespace
}  // namespace halyard::test
