// SPDX-License-Identifier: Apache-2.0
// A running tracker allocates nothing.
#include <gtest/gtest.h>

#include "support/allocations.h"
#include "track/kinds.h"
#include "track/scenes.h"

namespace halyard::test {
namespace {

class SteadyTrackers : public EveryTracker {};

TEST_P(SteadyTrackers, allocate_nothing_once_they_have_seen_the_scene) {
  // Crossing objects, false alarms and gaps: components of many sizes, births and deaths.
  const Scene scene =
      Crossing{.longest_gap = 15, .jitter_px = 2, .false_alarms = 0.5, .seed = 3}.make();
  Tracker tracker = make_tracker(GetParam());
  std::vector<Track> tracks;
  std::chrono::nanoseconds start{0};
  for (int round = 0; round < 3; ++round) {
    const std::uint64_t before = allocations();
    for (const SceneFrame& frame : scene)
      ASSERT_TRUE(tracker.update(frame.detections, start + frame.when, tracks));
    start +=
        scene.back().when + std::chrono::seconds(10);  // all tracks end between the rounds, at once
    const std::uint64_t count = allocations() - before;
    if (round == 0) {
      EXPECT_GT(count, 0U);  // the counter counts
    }
    if (round == 2) {
      EXPECT_EQ(count, 0U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SteadyTrackers, ::testing::ValuesIn(all_kinds), kind_name);

}  // namespace
}  // namespace halyard::test
