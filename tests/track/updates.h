// SPDX-License-Identifier: Apache-2.0
// The words that tests of trackers are written in: a detection, a frame's time, an update.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "halyard/track.h"

namespace halyard::test {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

inline constexpr Box usual{0.2F, 0.2F, 0.4F, 0.4F};
inline constexpr nanoseconds frame = 33'333'333ns;  ///< of 30 a second

inline Detection found(const Box& box, float score = 0.9F, std::int32_t label = 0) {
  return {box, score, label, -1};
}

/// One member of each row.
template <class Row, class T>
std::vector<T> each(const std::vector<Row>& rows, T Row::*member) {
  std::vector<T> out;
  for (const Row& row : rows)
    out.push_back(row.*member);
  return out;
}

inline Box moved(const Box& box, float dx, float dy) {
  return {box.x1 + dx, box.y1 + dy, box.x2 + dx, box.y2 + dy};
}

inline std::vector<Track> update(Tracker& tracker, const std::vector<Detection>& detections,
                                 nanoseconds when) {
  auto tracks = tracker.update(detections, when);
  EXPECT_TRUE(tracks) << tracks.error().message();
  EXPECT_EQ(tracks->size(), tracker.tracks().size());
  return *tracks;
}

}  // namespace halyard::test
