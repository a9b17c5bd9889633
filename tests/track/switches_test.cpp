// SPDX-License-Identifier: Apache-2.0
// Identity switches of every tracker on scenes whose truth is known. Prints the table: for
// ByteTrack's two modes, OC-SORT and SORT, over ten seeds of 20 objects: switches / trusted tracks
// (of 200 objects) / detections of objects that no trusted track took.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>

#include "track/kinds.h"
#include "track/scenes.h"

namespace halyard::testing {
namespace {

struct Case {
  const char* scene;
  Crossing crossing;
  int most[4];  ///< switches, all seeds together: hal, paper, OC-SORT, SORT
};

constexpr Case cases[] = {
    {"all seen", {}, {0, 0, 0, 0}},
    {"jitter of 2 px", {.jitter_px = 2}, {0, 0, 0, 0}},
    {"uneven clock", {.has_uneven_clock = true}, {0, 0, 0, 0}},
    {"gaps of up to 15 frames", {.longest_gap = 15}, {0, 8, 0, 700}},
    {"the same, dim instead of gone", {.longest_gap = 15, .dims_when_hidden = true}, {0, 0, 0, 0}},
    {"gaps, jitter, false alarms",
     {.longest_gap = 15, .jitter_px = 2, .false_alarms = 0.2},
     {20, 15, 12, 700}},
};

class Switches : public ::testing::TestWithParam<Case> {};

TEST_P(Switches, are_as_few_as_known) {
  std::printf("%-30s", GetParam().scene);
  for (const Kind kind : all_kinds) {
    Outcome all;
    for (unsigned seed = 1; seed <= 10; ++seed) {
      Crossing crossing = GetParam().crossing;
      crossing.seed = seed;
      Tracker tracker = make_tracker(kind);
      const Outcome own = outcome_of(tracker, crossing.make());
      ASSERT_GE(own.switches, 0);
      all.switches += own.switches;
      all.tracks += own.tracks;
      all.missed += own.missed;
    }
    std::printf("  %4d / %4d / %5d", all.switches, all.tracks, all.missed);
    EXPECT_LE(all.switches, GetParam().most[static_cast<int>(kind)]);
  }
  std::printf("\n");
}

INSTANTIATE_TEST_SUITE_P(All, Switches, ::testing::ValuesIn(cases), [](const auto& info) {
  std::string name = info.param.scene;
  std::erase_if(name, [](char c) { return c == ','; });
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace halyard::testing
