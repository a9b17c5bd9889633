// SPDX-License-Identifier: Apache-2.0
// All trackers over recorded detections of real street scenes; needs HALYARD_TESTDATA_DIR. There is
// no ground truth: counts are reported, and bounded by what could be no sane answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <tuple>

#include "support/result.h"
#include "track/kinds.h"

namespace halyard::test {
namespace {

struct Sequence {
  const char* name;
  double frames_per_second;  ///< of the published sequence
};

class RecordedScenes : public ::testing::TestWithParam<std::tuple<Sequence, Kind>> {};

std::map<int, std::vector<Detection>> load(const std::string& path) {
  std::map<int, std::vector<Detection>> frames;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    int frame = 0;
    float x = 0, y = 0, w = 0, h = 0, score = 0;
    if (std::sscanf(line.c_str(), "%d,-1,%f,%f,%f,%f,%f", &frame, &x, &y, &w, &h, &score) != 6)
      continue;
    frames[frame].push_back({{x, y, x + w, y + h}, score, 0, -1});
  }
  return frames;
}

struct Counts {
  std::size_t detections = 0;
  std::size_t max_in_a_frame = 0;
  std::size_t used = 0;                         ///< detections that a trusted track took
  std::map<std::uint64_t, std::uint32_t> hits;  ///< by trusted track
};

Counts count_tracks(Tracker& tracker, const std::map<int, std::vector<Detection>>& frames,
                    double rate) {
  Counts out;
  std::vector<Track> tracks;
  for (int i = 1; i <= frames.rbegin()->first; ++i) {
    const auto found = frames.find(i);
    const std::vector<Detection> seen =
        found == frames.end() ? std::vector<Detection>{} : found->second;
    const std::chrono::nanoseconds when(static_cast<std::int64_t>(1e9 * i / rate));
    EXPECT_OK(tracker.update(seen, when, tracks));
    out.detections += seen.size();
    out.max_in_a_frame = std::max(out.max_in_a_frame, seen.size());
    std::set<std::int32_t> taken;
    for (const Track& track : tracks) {
      if (track.state != TrackState::tracked) continue;
      ++out.hits[track.id];
      ++out.used;
      EXPECT_TRUE(taken.insert(track.detection).second) << "a detection in two tracks";
      EXPECT_GT(iou(track.box, seen[static_cast<std::size_t>(track.detection)].box), 0.2F);
    }
  }
  return out;
}

TEST_P(RecordedScenes, give_a_sane_number_of_tracks) {
  const char* dir = std::getenv("HALYARD_TESTDATA_DIR");
  if (dir == nullptr) GTEST_SKIP() << "HALYARD_TESTDATA_DIR is not set";
  const auto& [sequence, kind] = GetParam();
  const auto frames = load(std::string(dir) + "/mot/" + sequence.name + ".txt");
  ASSERT_FALSE(frames.empty());
  const auto interval =
      std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / sequence.frames_per_second));
  // SORT forgives one frame; the others wait as long as they would at 30 frames a second.
  Tracker tracker = make_tracker(kind, [&, is_sort = kind == Kind::sort](auto& options) {
    options.frame_interval = interval;
    if (is_sort) options.max_coast = interval * 3 / 2;
  });
  const Counts counts = count_tracks(tracker, frames, sequence.frames_per_second);
  const auto lasting = static_cast<std::size_t>(std::count_if(
      counts.hits.begin(), counts.hits.end(), [](const auto& hit) { return hit.second >= 10; }));
  std::printf("%-14s %-15s %4zu detections, %4zu in tracks, %3zu tracks, %3zu of ten frames\n",
              sequence.name, name_of(kind), counts.detections, counts.used, counts.hits.size(),
              lasting);
  EXPECT_GE(lasting, counts.max_in_a_frame / 2);
  EXPECT_LE(counts.hits.size(), counts.detections / 15);
  // ByteTrack takes low scores too; OC-SORT and SORT trust a track after three hits.
  constexpr std::size_t min_used_percent[] = {94, 86, 77, 79};
  EXPECT_GE(counts.used * 100, counts.detections * min_used_percent[static_cast<int>(kind)]);
}

INSTANTIATE_TEST_SUITE_P(
    All, RecordedScenes,
    ::testing::Combine(::testing::Values(Sequence{"PETS09-S2L1", 7}, Sequence{"TUD-Campus", 25},
                                         Sequence{"TUD-Stadtmitte", 25},
                                         Sequence{"ETH-Sunnyday", 14}, Sequence{"KITTI-17", 10}),
                       ::testing::ValuesIn(all_kinds)),
    [](const auto& info) {
      std::string name = std::get<0>(info.param).name;
      std::replace(name.begin(), name.end(), '-', '_');
      return name + "_" + name_of(std::get<1>(info.param));
    });

}  // namespace
}  // namespace halyard::test
