// SPDX-License-Identifier: Apache-2.0
// Mistakes that trackers of this kind are known for, each with a case that tells them from ours.
// Mode hal, but for the states, which it does not have.
#include <gtest/gtest.h>

#include <cmath>

#include "halyard/assignment.h"
#include "support/result.h"
#include "track/kalman.h"
#include "track/updates.h"

namespace halyard::test {
namespace {

TEST(KnownMistakes, blind_to_classes) {
  // A bicycle crosses a pedestrian: the nearer box is of the wrong class.
  auto tracker = *ByteTrack::create({.is_class_aware = true});
  update(tracker, {found({0, 0, 10, 20}, 0.9F, 0)}, 0ns);
  const auto tracks =
      update(tracker, {found({0, 0, 10, 20}, 0.9F, 1), found({3, 0, 13, 20}, 0.9F, 0)}, frame);
  ASSERT_EQ(tracks.size(), 2U);
  EXPECT_EQ(tracks[0].detection, 1);
  EXPECT_EQ(tracks[1].label, 1);
}

TEST(KnownMistakes, tiny_boxes_that_never_match) {
  // Sides of 0.2 % of the frame: a union of 4e-6, below the reference's floor of 1e-5.
  auto tracker = *ByteTrack::create();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(update(tracker, {found({0.5F, 0.5F, 0.502F, 0.502F})}, i * frame).size(), 1U);
  EXPECT_EQ(tracker.tracks()[0].id, 1U);
}

TEST(KnownMistakes, velocity_added_to_the_measurement) {
  // A filter that expects position + velocity stays a third of a step behind for good.
  auto tracker = *ByteTrack::create();
  const auto at = [](int i) {
    const float x = 3.0F * static_cast<float>(i);
    return Box{100 + x, 100, 200 + x, 300};
  };
  for (int i = 0; i < 300; ++i)
    update(tracker, {found(at(i))}, i * frame);
  EXPECT_NEAR(tracker.tracks()[0].box.x1, at(299).x1, 0.01F);
  EXPECT_NEAR(update(tracker, {}, 300 * frame)[0].box.x1, at(300).x1, 0.01F);
}

TEST(KnownMistakes, a_step_that_is_the_same_whatever_the_clock_says) {
  auto tracker = *ByteTrack::create();
  const auto at = [](double t) {
    const auto x = static_cast<float>(90 * t);  // pixels a second
    return Box{100 + x, 100, 200 + x, 300};
  };
  double t = 0;
  for (int i = 0; i < 300; ++i) {
    t += i % 2 == 0 ? 0.02 : 0.06;  // every second frame is late
    update(tracker, {found(at(t))}, nanoseconds(static_cast<std::int64_t>(1e9 * t)));
    if (i > 200) {
      EXPECT_NEAR(tracker.tracks()[0].box.x1, at(t).x1, 0.05F) << i;
    }
  }
}

TEST(KnownMistakes, a_match_that_reports_what_was_before_it) {
  auto tracker = *ByteTrack::create({.update_gain = 1});
  update(tracker, {found({0, 0, 100, 100})}, 0ns);
  const Track track = update(tracker, {found({10, 0, 110, 100})}, frame)[0];
  EXPECT_EQ(track.updates, 2U);  // not 1
  EXPECT_GT(track.box.x1, 5);    // not the prediction, which is still at 0
  EXPECT_EQ(track.last_seen, frame);
}

TEST(KnownMistakes, a_lifespan_that_overflows) {
  auto tracker = *ByteTrack::create({.max_coast = nanoseconds::max()});
  update(tracker, {found({0, 0, 1, 1})}, nanoseconds::max() - 1000ns);
  EXPECT_EQ(update(tracker, {}, nanoseconds::max()).size(), 1U);
}

TEST(KnownMistakes, an_order_that_changes_when_a_track_ends) {
  auto tracker = *ByteTrack::create({.max_coast = 0ns});
  const auto at = [](float x) { return found({x, 0, x + 10, 10}); };
  update(tracker, {at(0), at(100), at(200), at(300)}, 0ns);
  const auto tracks = update(tracker, {at(300), at(200), at(100)}, frame);  // the first one ends
  EXPECT_EQ(each(tracks, &Track::id), (std::vector<std::uint64_t>{2, 3, 4}));
}

TEST(KnownMistakes, costs_blurred_by_a_large_marker) {
  // Beside a marker of 1e6 a float has steps of 0.0625: the cheaper choice, by 0.02, would drown.
  // A forbidden pair in every row and column makes the marker matter.
  const std::vector<AssignmentPair> pairs{{0, 0, 1.00}, {0, 1, 1.01}, {1, 0, 1.01}, {1, 1, 1.04},
                                          {2, 1, 1.00}, {1, 2, 1.00}, {2, 2, 1.02}};
  Assignment assignment;
  ASSERT_VALUE(const auto chosen, assignment.max_pairs(pairs, 3, 3));
  EXPECT_EQ(chosen[0], 0);
  EXPECT_EQ(chosen[1], 2);
  EXPECT_EQ(chosen[2], 1);
}

TEST(KnownMistakes, no_states) {
  auto tracker = *ByteTrack::paper();
  const Box box{100, 100, 150, 200};
  EXPECT_EQ(update(tracker, {found(box)}, 0ns)[0].state, TrackState::tracked);  // first frame
  EXPECT_EQ(update(tracker, {}, frame)[0].state, TrackState::lost);
  const auto tracks = update(tracker, {found(box), found({500, 0, 550, 90})}, 2 * frame);
  EXPECT_EQ(each(tracks, &Track::state), (std::vector{TrackState::tracked, TrackState::tentative}));
  update(tracker, {found(box)}, 3 * frame);
  ASSERT_EQ(tracker.removed().size(), 1U);
  EXPECT_EQ(tracker.removed()[0].id, 2U);
}

TEST(KnownMistakes, tracks_without_a_limit) {
  auto tracker = *ByteTrack::create({.max_tracks = 5});
  std::vector<Detection> many;
  for (int i = 0; i < 100; ++i) {
    const float x = 20.0F * static_cast<float>(i);
    many.push_back(found({x, 0, x + 10, 10}));
  }
  EXPECT_EQ(update(tracker, many, 0ns).size(), 5U);
}

}  // namespace
}  // namespace halyard::test
