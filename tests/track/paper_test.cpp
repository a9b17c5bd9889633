// SPDX-License-Identifier: Apache-2.0
// ByteTrack, mode paper: pools, limits and states as published.
#include <gtest/gtest.h>

#include "track/updates.h"

namespace halyard::test {
namespace {

constexpr Box here{100, 100, 150, 200};

/// Shares (50 - dx) / (50 + dx) with `here`.
Box beside(float dx) {
  return {here.x1 + dx, here.y1, here.x2 + dx, here.y2};
}

ByteTrack seen_once() {
  auto tracker = *ByteTrack::paper();
  update(tracker, {found(here)}, 0ns);
  return tracker;
}

TEST(ByteTrackPaper, scores_from_a_tenth_to_high_continue_tracks_and_start_none) {
  auto tracker = seen_once();
  EXPECT_EQ(update(tracker, {found(here, 0.1F)}, frame)[0].detection, 0);
  EXPECT_EQ(update(tracker, {found(here, 0.09F)}, 2 * frame)[0].detection, -1);
  auto other = *ByteTrack::paper();
  EXPECT_TRUE(update(other, {found(here, 0.59F)}, 0ns).empty());
}

TEST(ByteTrackPaper, a_start_needs_more_than_the_first_pass) {
  auto tracker = seen_once();
  const auto tracks = update(tracker, {found(here, 0.65F), found(beside(200), 0.65F)}, frame);
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].detection, 0);
}

TEST(ByteTrackPaper, the_first_pass_fuses_score_and_iou_up_to_a_cost_of_08) {
  // IoU 0.25, score 0.9: cost 0.775. With a score of 0.65 it would be 0.8375.
  auto good = seen_once();
  EXPECT_EQ(update(good, {found(beside(30), 0.9F)}, frame)[0].detection, 0);
  auto poor = seen_once();
  EXPECT_EQ(update(poor, {found(beside(30), 0.65F)}, frame)[0].detection, -1);
  auto unfused = *ByteTrack::paper({.is_score_fused = false});
  update(unfused, {found(here)}, 0ns);
  EXPECT_EQ(update(unfused, {found(beside(30), 0.65F)}, frame)[0].detection, 0);
}

TEST(ByteTrackPaper, the_second_pass_takes_an_iou_above_a_half) {
  auto good = seen_once();
  EXPECT_EQ(update(good, {found(beside(15), 0.5F)}, frame)[0].detection, 0);  // 0.54
  auto poor = seen_once();
  EXPECT_EQ(update(poor, {found(beside(18), 0.5F)}, frame)[0].detection, -1);  // 0.47
}

TEST(ByteTrackPaper, a_lost_track_comes_back_by_a_high_score_only) {
  auto tracker = seen_once();
  update(tracker, {}, frame);
  EXPECT_EQ(update(tracker, {found(here, 0.5F)}, 2 * frame)[0].state, TrackState::lost);
  const auto tracks = update(tracker, {found(here, 0.9F)}, 3 * frame);
  EXPECT_EQ(tracks[0].id, 1U);
  EXPECT_EQ(tracks[0].state, TrackState::tracked);
}

TEST(ByteTrackPaper, a_lost_track_waits_a_second) {
  auto tracker = seen_once();
  EXPECT_EQ(update(tracker, {}, 1s).size(), 1U);
  EXPECT_TRUE(update(tracker, {}, 1s + 1ns).empty());
}

TEST(ByteTrackPaper, a_new_track_is_believed_when_the_next_frame_has_it_too) {
  auto tracker = *ByteTrack::paper();
  update(tracker, {}, 0ns);
  EXPECT_EQ(update(tracker, {found(here)}, frame)[0].state, TrackState::tentative);
  EXPECT_EQ(update(tracker, {found(here)}, 2 * frame)[0].state, TrackState::tracked);
}

TEST(ByteTrackPaper, a_new_track_that_the_next_frame_lacks_ends) {
  auto tracker = *ByteTrack::paper();
  update(tracker, {}, 0ns);
  update(tracker, {found(here)}, frame);
  // A low score does not confirm, nor does an IoU * score of no more than 0.3.
  EXPECT_TRUE(update(tracker, {found(here, 0.5F)}, 2 * frame).empty());
  update(tracker, {found(here)}, 3 * frame);
  const auto tracks = update(tracker, {found(beside(27), 0.9F)}, 4 * frame);  // IoU 0.299
  ASSERT_EQ(tracks.size(), 1U);
  EXPECT_EQ(tracks[0].id, 3U);
}

TEST(ByteTrackPaper, known_tracks_choose_before_new_ones) {
  auto tracker = seen_once();
  update(tracker, {found(here), found(beside(25))}, frame);  // 2 is tentative
  const auto tracks = update(tracker, {found(beside(12))}, 2 * frame);
  ASSERT_EQ(tracks.size(), 1U);  // 2, which is as near, has no chance left
  EXPECT_EQ(tracks[0].id, 1U);
}

TEST(ByteTrackPaper, prefers_the_cheapest_pairs_to_the_most) {
  // Two tracks, two detections: 1 fits the first track exactly. A solver that wants most pairs
  // would give it to the second track, to keep the other detection busy.
  auto tracker = *ByteTrack::paper();
  update(tracker, {found(here), found(beside(25))}, 0ns);
  const auto tracks = update(tracker, {found(beside(-28), 0.99F), found(here, 0.99F)}, frame);
  EXPECT_EQ(tracks[0].detection, 1);
}

TEST(ByteTrackPaper, of_two_tracks_in_one_place_the_older_stays) {
  auto tracker = seen_once();
  for (int i = 1; i < 4; ++i)
    update(tracker, {found(here)}, i * frame);
  // Another object appears, is believed, and then is where the first was lost.
  update(tracker, {found(beside(60))}, 4 * frame);
  update(tracker, {found(beside(60))}, 5 * frame);
  for (int i = 0; i < 9; ++i)
    update(tracker, {found(beside(60 - 7 * static_cast<float>(i)), 0.6F)}, (6 + i) * frame);
  std::size_t in_place = 0;
  for (const Track& track : tracker.tracks())
    in_place += iou(track.box, here) > 0.85F;
  EXPECT_LE(in_place, 1U);
}

}  // namespace
}  // namespace halyard::test
