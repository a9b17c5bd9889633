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

namespace halyard::test {
namespace {

struct Range {
  int min, max;
};

struct Case {
  const char* scene;
  Crossing crossing;
  struct Expected {
    Range switches, tracks, missed;  ///< all seeds together
  } expected[4];                     ///< hal, paper, OC-SORT, SORT
};

constexpr Case::Expected faultless = {{0, 0}, {200, 200}, {0, 0}};

// Each object has a track of its own at least. Where objects hide for longer than the frame that
// SORT forgives, it must lose them: otherwise the scene would hide nothing.
constexpr Case cases[] = {
    {"all seen", {}, {faultless, faultless, faultless, faultless}},
    {"jitter of 2 px", {.jitter_px = 2}, {faultless, faultless, faultless, faultless}},
    {"uneven clock", {.has_uneven_clock = true}, {faultless, faultless, faultless, faultless}},
    {"gaps of up to 15 frames",
     {.longest_gap = 15},
     {faultless,
      {{0, 8}, {200, 206}, {0, 6}},
      {{0, 0}, {200, 200}, {1300, 1500}},
      {{550, 680}, {740, 870}, {1850, 2200}}}},
    {"the same, dim instead of gone",
     {.longest_gap = 15, .dims_when_hidden = true},
     {faultless, faultless, {{0, 0}, {200, 200}, {6900, 7600}}, faultless}},
    {"gaps, jitter, false alarms",
     {.longest_gap = 15, .jitter_px = 2, .false_alarms = 0.2},
     {{{0, 20}, {520, 630}, {0, 0}},
      {{0, 15}, {200, 210}, {0, 6}},
      {{0, 12}, {200, 214}, {1350, 1580}},
      {{560, 690}, {750, 890}, {1900, 2250}}}},
};

void expect_inside(int value, const Range& range, const char* what) {
  EXPECT_GE(value, range.min) << what;
  EXPECT_LE(value, range.max) << what;
}

class Switches : public ::testing::TestWithParam<Case> {};

TEST_P(Switches, tracks_and_misses_are_those_known) {
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
    SCOPED_TRACE(name_of(kind));
    const Case::Expected& expected = GetParam().expected[static_cast<int>(kind)];
    expect_inside(all.switches, expected.switches, "switches");
    expect_inside(all.tracks, expected.tracks, "tracks");
    expect_inside(all.missed, expected.missed, "missed");
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
}  // namespace halyard::test
