// SPDX-License-Identifier: Apache-2.0
// ByteTrack over recorded detections of real street scenes; needs HALYARD_TESTDATA_DIR. There is no
// ground truth: counts are reported, and bounded by what could be no sane answer.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "halyard/track.h"

namespace halyard {
namespace {

struct Sequence {
  const char* name;
  double frames_per_second;  ///< of the published sequence
};

class RecordedScenes : public ::testing::TestWithParam<Sequence> {};

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

TEST_P(RecordedScenes, give_a_sane_number_of_tracks) {
  const char* dir = std::getenv("HALYARD_TESTDATA_DIR");
  if (dir == nullptr) GTEST_SKIP() << "HALYARD_TESTDATA_DIR is not set";
  const auto frames = load(std::string(dir) + "/mot/" + GetParam().name + ".txt");
  ASSERT_FALSE(frames.empty());
  auto tracker = *ByteTrack::create();
  std::map<std::uint64_t, std::uint32_t> updates;
  std::size_t detections = 0;
  std::size_t used = 0;
  std::size_t most_in_a_frame = 0;
  for (int i = 1; i <= frames.rbegin()->first; ++i) {
    const auto found = frames.find(i);
    const std::vector<Detection> seen =
        found == frames.end() ? std::vector<Detection>{} : found->second;
    const std::chrono::nanoseconds when(
        static_cast<std::int64_t>(1e9 * i / GetParam().frames_per_second));
    const auto tracks = tracker.update(seen, when);
    ASSERT_TRUE(tracks) << tracks.error().message();
    detections += seen.size();
    most_in_a_frame = std::max(most_in_a_frame, seen.size());
    std::set<std::int32_t> taken;
    for (const Track& track : *tracks) {
      updates[track.id] = track.updates;
      if (track.detection < 0) continue;
      ++used;
      EXPECT_TRUE(taken.insert(track.detection).second) << "a detection in two tracks";
      EXPECT_GT(iou(track.box, seen[static_cast<std::size_t>(track.detection)].box), 0.25F);
    }
  }
  std::size_t lasting = 0;
  for (const auto& [id, count] : updates)
    lasting += count >= 10;
  RecordProperty("detections", static_cast<int>(detections));
  RecordProperty("tracks", static_cast<int>(updates.size()));
  RecordProperty("tracks_of_ten_updates", static_cast<int>(lasting));
  std::printf("%s: %zu detections, %zu in tracks, %zu tracks, %zu of at least ten updates\n",
              GetParam().name, detections, used, updates.size(), lasting);
  EXPECT_GE(lasting, most_in_a_frame / 2);
  EXPECT_LE(updates.size(), detections / 10);
  EXPECT_GE(used * 100, detections * 85);
}

INSTANTIATE_TEST_SUITE_P(All, RecordedScenes,
                         ::testing::Values(Sequence{"PETS09-S2L1", 7}, Sequence{"TUD-Campus", 25},
                                           Sequence{"TUD-Stadtmitte", 25},
                                           Sequence{"ETH-Sunnyday", 14}, Sequence{"KITTI-17", 10}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace halyard
